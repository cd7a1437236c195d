// The TypeScript SDK 2.x: both eras.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { deskChecks, finish, respond } from './common.mjs';
import { askChecks } from './asking.mjs';

const [base, policy] = process.argv.slice(2);

const opener = mode => async (token, answer, options = {}) => {
  const capabilities = {};
  if (answer) capabilities.elicitation = {};
  if (options.model) capabilities.sampling = {};
  const client = new Client({ name: 'flowx-test', version: '1' }, { capabilities, versionNegotiation: { mode } });
  if (answer) client.setRequestHandler('elicitation/create', request => respond(answer, request.params));
  if (options.model) client.setRequestHandler('sampling/createMessage', options.model);
  const transport = new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers: { authorization: `Bearer ${token}` } } });
  await client.connect(transport);
  return {
    list: async () => (await client.listTools()).tools,
    call: (params, callOptions) => client.callTool(params, callOptions),
    read: async uri => (await client.readResource({ uri })).contents[0].text,
    close: () => client.close(),
  };
};

for (const [era, mode] of [['legacy', 'legacy'], ['modern', { pin: '2026-07-28' }], ['auto', 'auto']]) {
  const label = `TypeScript 2.4 ${era}`;
  if (policy === 'annotate') await deskChecks(label, base, opener(mode));
  else await askChecks(label, base, opener(mode), era === 'legacy' ? 'legacy' : 'modern');
}
finish();
