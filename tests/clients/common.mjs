// What the client tests share: one line per check, and the desk's own word on what has really happened.
let passed = 0;
let failed = 0;

export async function check(name, body) {
  try {
    await body();
    passed += 1;
    console.log(`ok ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`not ok ${name}: ${String(error?.stack ?? error).split('\n').slice(0, 4).join(' | ')}`);
  }
}

export function finish() {
  console.log(`# ${passed} ${failed}`);
  process.exit(failed === 0 ? 0 : 1);
}

export function equal(actual, expected, what) {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what}: ${a} is not ${b}`);
}

export function assert(condition, what) {
  if (!condition) throw new Error(what);
}

// How often each effect has really happened, summed.
export async function effects(base) {
  const response = await fetch(`${base}/desk/counters`);
  const counters = await response.json();
  return Object.values(counters).reduce((sum, n) => sum + Number(n), 0);
}

// What a refusal says, wherever this client puts it.
export function refusal(result) {
  assert(result.isError === true, `not an error: ${JSON.stringify(result)}`);
  return JSON.parse(result.content[0].text);
}

// What a person fills in who says the same to everything that a form asks.
export function fill(schema, value = true) {
  return Object.fromEntries(Object.entries(schema.properties).filter(([, p]) => p.type === 'boolean').map(([name]) => [name, value]));
}

// What a client's user does when asked.
export async function respond(answer, params) {
  if (typeof answer === 'function') return answer(params);
  if (answer === 'accept') return { action: 'accept', content: fill(params.requestedSchema) };
  return { action: answer };
}

export const refund = ticket => ({
  name: 'ticket_refund',
  arguments: { ticket_id: ticket, amount_cents: 1250, cardholder_reference: 'card-4711' },
});

// The same checks for every client: `open(token, answer)` gives `{list, call, read, close}`. `answer` is what its user does when asked.
export async function deskChecks(label, base, open) {
  const manifest = await (await fetch(`${base}/flowx/manifest`, { headers: { authorization: 'Bearer manager-token' } })).text();
  const embedded = JSON.parse(manifest);

  await check(`${label}: lists every tool, with what the client keeps of it unchanged`, async () => {
    const client = await open('agent-token');
    const tools = await client.list();
    equal(tools.map(t => t.name), embedded.tools.map(t => t.name), 'names');
    for (const [i, tool] of tools.entries()) {
      const sent = embedded.tools[i];
      for (const key of ['description', 'inputSchema', 'outputSchema', '_meta']) equal(sorted(tool[key]), sorted(sent[key]), `${tool.name}.${key}`);
    }
    await client.close();
  });

  await check(`${label}: calls a tool that only reads`, async () => {
    const client = await open('agent-token');
    await client.list();
    const result = await client.call({ name: 'ticket_search', arguments: {} });
    assert(result.isError !== true, JSON.stringify(result));
    equal(result.structuredContent.tickets.length, 10, 'tickets');
    equal(sorted(JSON.parse(result.content[0].text)), sorted(result.structuredContent), 'the text copy');
    await client.close();
  });

  await check(`${label}: an agent without the permission is refused, and nothing is done`, async () => {
    const client = await open('agent-token', 'accept');
    await client.list();
    const before = await effects(base);
    const said = refusal(await client.call(refund('T-1001')));
    equal(said.code, 'authorization.permission_denied', 'code');
    equal(await effects(base), before, 'effects');
    await client.close();
  });

  await check(`${label}: the manifest is there for who may read it, byte for byte`, async () => {
    const client = await open('manager-token');
    equal(await client.read('flowx://manifest'), manifest, 'manifest');
    await client.close();
    const other = await open('agent-token');
    let refused = false;
    try {
      await other.read('flowx://manifest');
    } catch {
      refused = true;
    }
    assert(refused, 'an agent has read the whole manifest');
    await other.close();
  });
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value && typeof value === 'object') return Object.fromEntries(Object.keys(value).sort().map(k => [k, sorted(value[k])]));
  return value;
}
