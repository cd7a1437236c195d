// The official conformance suite, with its frozen requirement set of one revision. A scenario passes, or stands in the list of those
// that cannot apply, with the reason; an entry that passes after all is wrong as well. A pass is vacuous, and so no pass, when the
// suite found nothing to look at: the tool that the scenario calls has to be there.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [base, revision, listFile] = process.argv.slice(2);
const suite = fileURLToPath(new URL('node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url));
const results = mkdtempSync(join(tmpdir(), 'flowx-conformance-'));

// Scenarios that pass when the server knows none of it: each says which tool makes it real.
const needs = {
  'tools-call-simple-text': 'test_simple_text',
  'tools-call-error': 'test_error_handling',
  'tools-call-with-progress': 'test_tool_with_progress',
  'tools-call-image': 'test_image_content',
  'tools-call-audio': 'test_audio_content',
  'tools-call-embedded-resource': 'test_embedded_resource',
  'tools-call-mixed-content': 'test_multiple_content_types',
  'tools-call-elicitation': 'test_elicitation',
  'input-required-result-basic-elicitation': 'test_input_required_result_elicitation',
  'input-required-result-missing-input-response': 'test_input_required_result_elicitation',
  'input-required-result-ignore-extra-params': 'test_input_required_result_elicitation',
  'input-required-result-validate-input': 'test_input_required_result_elicitation',
  'input-required-result-tampered-state': 'test_input_required_result_tampered_state',
  'input-required-result-request-state': 'test_input_required_result_request_state',
  'input-required-result-result-type': 'test_input_required_result_elicitation',
};

// `scenario = "reason"` under `[revision]`: as much TOML as the file uses.
function expectedFailures() {
  const expected = new Map();
  let here = false;
  for (const line of readFileSync(listFile, 'utf8').split('\n')) {
    const section = /^\[(.*)\]$/.exec(line.trim());
    if (section) here = section[1].replaceAll('"', '') === revision || section[1] === 'both';
    const entry = /^"?([a-z0-9:-]+)"?\s*=\s*"(.+)"$/.exec(line.trim());
    if (here && entry) expected.set(entry[1], entry[2]);
  }
  return expected;
}

function run() {
  return new Promise(resolve => {
    const args = [suite, 'server', '--url', `${base}/mcp`, '--requirements', revision, '--output-dir', results];
    execFile(process.execPath, args, { timeout: 280_000, maxBuffer: 256 << 20 }, (error, stdout, stderr) => resolve(`${stdout}${stderr}`));
  });
}

// The tools that are there and, where a call needs nothing else, answer with something other than an error: a suite that looks for
// any text at all finds some in a refusal.
async function tools() {
  const client = new Client({ name: 'flowx-test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`)));
  const { tools } = await client.listTools();
  const real = new Set();
  for (const { name } of tools) {
    const asks = /input_required|elicitation|missing_capability/.test(name);
    const fails = name === 'test_error_handling';
    if (asks || ((await client.callTool({ name, arguments: {} })).isError === true) === fails) real.add(name);
  }
  await client.close();
  return real;
}

// The scenarios that count for the revision, from the suite's own frozen file.
function required() {
  const text = readFileSync(join(suite, '..', '..', 'requirements', `${revision}.yaml`), 'utf8');
  const server = /^server:\n((?:  - .*\n)+)/m.exec(text)[1];
  return server.trim().split('\n').map(line => line.trim().slice(2).trim());
}

const expected = expectedFailures();
const present = await tools();
const output = await run();
const checks = new Map();
for (const folder of readdirSync(results, { recursive: true })) {
  if (!String(folder).endsWith('checks.json')) continue;
  const name = /server-([a-z0-9-]+?)-\d{4}-\d{2}-\d{2}T/.exec(String(folder))?.[1];
  if (name) checks.set(name, JSON.parse(readFileSync(join(results, String(folder)), 'utf8')));
}
rmSync(results, { recursive: true });

let passed = 0;
let failed = 0;
for (const scenario of required()) {
  const found = checks.get(scenario) ?? [];
  const all = found.filter(c => c.status === 'FAILURE' || c.status === 'WARNING');
  // One check of a scenario may be listed by itself, so that the others still count.
  const wrong = all.filter(c => !expected.has(`${scenario}:${c.id}`));
  for (const check of found.filter(c => expected.has(`${scenario}:${c.id}`))) {
    if (check.status === 'SUCCESS') wrong.push({ id: check.id, errorMessage: 'passes, but is listed as not applying' });
  }
  for (const key of [...expected.keys()].filter(k => k.startsWith(`${scenario}:`))) {
    if (!found.some(c => `${scenario}:${c.id}` === key)) wrong.push({ id: key, errorMessage: 'listed, but no such check ran' });
    expected.delete(key);
  }
  const good = found.filter(c => c.status === 'SUCCESS').length;
  const missing = needs[scenario] && !present.has(needs[scenario]);
  const passes = good > 0 && wrong.length === 0 && !missing;
  const reason = expected.get(scenario);
  expected.delete(scenario);
  if (passes && !reason) {
    passed += 1;
    console.log(`ok conformance ${revision} ${scenario} (${good} checks)`);
  } else if (!passes && reason) {
    passed += 1;
    console.log(`ok conformance ${revision} ${scenario} does not apply: ${reason}`);
  } else {
    failed += 1;
    const why = passes
      ? `passes, but is listed as not applying: ${reason}`
      : missing
        ? `the tool ${needs[scenario]} is not there, so a pass would say nothing`
        : wrong.map(c => `${c.id}: ${c.errorMessage ?? c.description}`).join(' | ') || `no check ran: ${output.slice(-300)}`;
    console.log(`not ok conformance ${revision} ${scenario}: ${why}`);
  }
}
for (const [scenario, reason] of expected) {
  if ([...checks.keys()].includes(scenario) || !required().includes(scenario)) {
    failed += 1;
    console.log(`not ok conformance ${revision} ${scenario}: listed, but not required by this revision: ${reason}`);
  }
}
console.log(`# ${passed} ${failed}`);
process.exit(failed === 0 ? 0 : 1);
