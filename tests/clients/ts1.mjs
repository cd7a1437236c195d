// The TypeScript SDK 1.x: 2025-11-25 only.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { deskChecks, finish, respond } from './common.mjs';
import { askChecks } from './asking.mjs';

const [base, policy] = process.argv.slice(2);

async function open(token, answer, options = {}) {
  const capabilities = {};
  if (answer) capabilities.elicitation = {};
  if (options.model) capabilities.sampling = {};
  const client = new Client({ name: 'flowx-test', version: '1' }, { capabilities });
  if (answer) client.setRequestHandler(ElicitRequestSchema, request => respond(answer, request.params));
  if (options.model) client.setRequestHandler(CreateMessageRequestSchema, options.model);
  const transport = new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers: { authorization: `Bearer ${token}` } } });
  await client.connect(transport);
  return {
    list: async () => (await client.listTools()).tools,
    call: (params, callOptions) => client.callTool(params, undefined, callOptions),
    read: async uri => (await client.readResource({ uri })).contents[0].text,
    close: () => client.close(),
  };
}

if (policy === 'annotate') await deskChecks('TypeScript 1.32 legacy', base, open);
else await askChecks('TypeScript 1.32 legacy', base, open, 'legacy');
finish();
