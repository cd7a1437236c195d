// Fifty shapes of contracts through the TypeScript clients and the Inspector: every list loads whole, nothing of a descriptor is dropped,
// no keyword outside the portable profile is sent, and an answer meets the output schema that the client holds it against.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { assert, check, equal, finish } from './common.mjs';

const [base, samplesFile] = process.argv.slice(2);
const samples = JSON.parse(readFileSync(samplesFile, 'utf8'));
const url = new URL(`${base}/mcp`);

const clients = [
  ['TypeScript 1.32 legacy', () => [new ClientV1({ name: 'flowx-test', version: '1' }), new TransportV1(url)]],
  ...[['legacy', 'legacy'], ['modern', { pin: '2026-07-28' }]].map(([era, mode]) => [
    `TypeScript 2.4 ${era}`,
    () => [new Client({ name: 'flowx-test', version: '1' }, { versionNegotiation: { mode } }), new StreamableHTTPClientTransport(url)],
  ]),
];

// The keywords of the portable profile, as the generator promises them.
const KEYWORDS = new Set([
  'type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'title', 'description', 'format', 'pattern', 'minimum', 'maximum',
  'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength', 'minItems', 'maxItems', 'uniqueItems', 'minProperties',
  'maxProperties', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly',
]);

function complain(schema, at) {
  equal(typeof schema, 'object', `${at} is no object schema`);
  equal(typeof schema.type, 'string', `${at} has no single type`);
  for (const key of Object.keys(schema)) assert(KEYWORDS.has(key), `${at} says ${key}`);
  if (schema.type === 'array') complain(schema.items, `${at}/items`);
  if (schema.format) equal(schema.format, 'date-time', `${at} format`);
  if (schema.pattern) new RegExp(schema.pattern, 'u');
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    assert(/^[a-zA-Z0-9_-]{1,64}$/.test(name), `${at} has a property ${name}`);
    complain(property, `${at}/${name}`);
  }
  if (typeof schema.additionalProperties === 'object') complain(schema.additionalProperties, `${at}/*`);
}

// What the server sends, before any client has looked at it.
async function raw() {
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json', accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } }),
  });
  return (await response.json()).result.tools;
}

const sent = await raw();
await check('shapes: no descriptor says anything outside the portable profile', async () => {
  assert(Object.keys(samples).length >= 50, 'there are too few shapes');
  for (const name of Object.keys(samples)) {
    const tool = sent.find(t => t.name === name);
    assert(tool, `${name} is not listed`);
    for (const key of ['inputSchema', 'outputSchema']) {
      equal(tool[key].type, 'object', `${name} ${key} root`);
      assert(tool[key].properties, `${name} ${key} has no properties`);
      complain(tool[key], `${name} ${key}`);
    }
  }
});

for (const [label, open] of clients) {
  await check(`shapes, ${label}: every list loads, and nothing is dropped`, async () => {
    const [client, transport] = open();
    await client.connect(transport);
    const { tools } = await client.listTools();
    equal(tools.map(t => t.name), sent.map(t => t.name), 'names');
    for (const [i, tool] of tools.entries()) {
      for (const key of ['description', 'inputSchema', 'outputSchema', '_meta']) equal(sorted(tool[key]), sorted(sent[i][key]), `${tool.name} ${key}`);
    }
    await client.close();
  });
  await check(`shapes, ${label}: every answer meets its schema`, async () => {
    const [client, transport] = open();
    await client.connect(transport);
    await client.listTools();
    for (const [name, sample] of Object.entries(samples)) {
      const result = await client.callTool({ name, arguments: sample });
      assert(result.isError !== true, `${name}: ${result.content?.[0]?.text}`);
      equal(sorted(result.structuredContent), sorted(sample), name);
    }
    await client.close();
  });
}

const cli = fileURLToPath(import.meta.resolve('@modelcontextprotocol/inspector/clients/launcher/build/index.js'));
for (const era of ['legacy', 'modern']) {
  await check(`shapes, Inspector 2.12 ${era}: --strict has nothing to say`, async () => {
    const args = [cli, '--cli', url.href, '--transport', 'http', '--protocol-era', era, '--method', 'tools/list', '--strict'];
    const [code, stdout, stderr] = await new Promise(resolve => {
      execFile(process.execPath, args, { timeout: 60_000, maxBuffer: 64 << 20 }, (error, out, err) => resolve([error ? error.code : 0, out, err]));
    });
    equal(code, 0, stderr);
    equal(JSON.parse(stdout).tools.length, sent.length, 'tools');
    assert(!/warning|error/i.test(stderr), stderr);
  });
}
finish();

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value && typeof value === 'object') return Object.fromEntries(Object.keys(value).sort().map(k => [k, sorted(value[k])]));
  return value;
}
