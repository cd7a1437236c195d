// The Inspector's command line, in both eras: a strict look at the schemas, and calls as anybody would make them by hand.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { assert, check, effects, equal, finish } from './common.mjs';

const [base] = process.argv.slice(2);
const cli = fileURLToPath(import.meta.resolve('@modelcontextprotocol/inspector/clients/launcher/build/index.js'));

function inspect(era, token, ...args) {
  const all = [cli, '--cli', `${base}/mcp`, '--transport', 'http', '--protocol-era', era, '--header', `Authorization: Bearer ${token}`, ...args];
  return new Promise(resolve => {
    execFile(process.execPath, all, { timeout: 60_000, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      let answer;
      try {
        answer = JSON.parse(stdout);
      } catch {
        answer = undefined;
      }
      resolve({ code: error ? error.code : 0, answer, stdout, stderr });
    });
  });
}

for (const era of ['legacy', 'modern']) {
  const label = `Inspector 2.12 ${era}`;
  await check(`${label}: --strict has nothing to say about the schemas`, async () => {
    const { code, answer, stderr } = await inspect(era, 'agent-token', '--method', 'tools/list', '--strict');
    equal(code, 0, `exit (${stderr})`);
    assert(answer.tools.length >= 2, 'tools');
    assert(!/warning|error/i.test(stderr), stderr);
  });
  await check(`${label}: calls a tool that only reads`, async () => {
    const { answer, stderr } = await inspect(era, 'agent-token', '--method', 'tools/call', '--tool-name', 'ticket_search');
    assert(answer, stderr);
    equal(answer.structuredContent.tickets.length, 10, 'tickets');
  });
  const refund = ['--method', 'tools/call', '--tool-name', 'ticket_refund', '--tool-arg', 'ticket_id=T-1002', 'amount_cents=500', 'cardholder_reference=card-1'];
  await check(`${label}: an agent without the permission is refused, and nothing is done`, async () => {
    const before = await effects(base);
    const { stdout, stderr } = await inspect(era, 'agent-token', ...refund);
    assert(`${stdout}${stderr}`.includes('authorization.permission_denied'), `${stdout}${stderr}`);
    equal(await effects(base), before, 'effects');
  });
  await check(`${label}: an agent with the permission refunds`, async () => {
    const before = await effects(base);
    const ticket = era === 'legacy' ? 'T-1003' : 'T-1004';
    const { stdout, stderr } = await inspect(era, 'refund-agent-token', ...refund.map(a => a.replace('T-1002', ticket)));
    assert(stdout.includes('refund_reference'), `${stdout}${stderr}`);
    assert((await effects(base)) > before, 'nothing has happened');
  });
}
finish();
