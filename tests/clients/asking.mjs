// A desk that asks before it refunds: every way in which a client's user can answer, or not.
import { assert, check, effects, equal, fill, refund, refusal } from './common.mjs';

export async function askChecks(label, base, open, era) {
  const outcome = (name, answer, expected) =>
    check(`${label}: ${name}`, async () => {
      const client = await open('refund-agent-token', answer);
      await client.list();
      const before = await effects(base);
      const result = await client.call(refund(nextTicket()));
      const said = refusal(result);
      equal(said.code, 'mcp.confirmation_refused', 'code');
      if (expected) equal(said.detail?.outcome, expected, 'outcome');
      equal(await effects(base), before, 'effects');
      await client.close();
    });

  await check(`${label}: a yes lets the refund happen once`, async () => {
    let prompt = '';
    const client = await open('refund-agent-token', params => {
      prompt = params.message;
      return { action: 'accept', content: fill(params.requestedSchema) };
    });
    await client.list();
    const before = await effects(base);
    const result = await client.call(refund(nextTicket()));
    assert(result.isError !== true, JSON.stringify(result));
    assert(typeof result.structuredContent.refund_reference === 'string', 'no reference');
    assert(prompt.includes('1250'), `the prompt does not show the amount: ${prompt}`);
    assert(!prompt.includes('card-4711'), `the prompt shows what is sensitive: ${prompt}`);
    assert((await effects(base)) > before, 'nothing has happened');
    await client.close();
  });

  await outcome('a no means that nothing is done', 'decline', 'declined');
  await outcome('a closed form means that nothing is done', 'cancel', 'cancelled');
  await outcome('an accepted form that says no is a no', params => ({ action: 'accept', content: fill(params.requestedSchema, false) }));

  await check(`${label}: an agent without the permission is not even asked`, async () => {
    let asked = false;
    const client = await open('agent-token', () => {
      asked = true;
      return { action: 'accept', content: fill(params.requestedSchema) };
    });
    const before = await effects(base);
    equal(refusal(await client.call(refund(nextTicket()))).code, 'authorization.permission_denied', 'code');
    assert(!asked, 'the user was asked to approve what would be refused anyway');
    equal(await effects(base), before, 'effects');
    await client.close();
  });

  await check(`${label}: a client that cannot be asked is refused rather than obeyed`, async () => {
    const client = await open('refund-agent-token');
    const before = await effects(base);
    if (era === 'legacy') {
      equal(refusal(await client.call(refund(nextTicket()))).code, 'mcp.confirmation_refused', 'code');
    } else {
      let code;
      try {
        await client.call(refund(nextTicket()));
      } catch (error) {
        code = error.code;
      }
      equal(code, -32021, 'code');
    }
    equal(await effects(base), before, 'effects');
    await client.close();
  });

  await check(`${label}: a user who never answers changes nothing`, async () => {
    const client = await open('refund-agent-token', () => new Promise(() => {}));
    const before = await effects(base);
    // A client of 2026-07-28 waits for its own user without any request being open, and so without a timer.
    const call = client.call(refund(nextTicket()), { timeout: 1500 }).then(() => 'came back', () => 'gave up');
    const end = await Promise.race([call, sleep(3000).then(() => 'waits')]);
    assert(end !== 'came back', 'the call came back');
    await client.close();
    await sleep(500);
    equal(await effects(base), before, 'effects');
  });

  await check(`${label}: a client that leaves while its user is asked changes nothing`, async () => {
    let close;
    const gone = new Promise(resolve => (close = resolve));
    const client = await open('refund-agent-token', async () => {
      close();
      return new Promise(() => {});
    });
    const before = await effects(base);
    const call = client.call(refund(nextTicket())).catch(() => 'gone');
    await gone;
    await client.close();
    await Promise.race([call, sleep(2000)]);
    await sleep(500);
    equal(await effects(base), before, 'effects');
  });

  await check(`${label}: the caller's own model explains the review, where there is one to ask`, async () => {
    const asked = [];
    const model = request => {
      asked.push(JSON.stringify(request.params.messages));
      return { role: 'assistant', model: 'test', content: { type: 'text', text: 'Looks fine to me.' }, stopReason: 'endTurn' };
    };
    const review = async options => {
      const client = await open('manager-token', 'accept', options);
      await client.list();
      const result = await client.call({ name: 'ops_review', arguments: { narrate: true } });
      assert(result.isError !== true, JSON.stringify(result));
      await client.close();
      return result.structuredContent;
    };
    const [first, second, without] = [await review({ model }), await review({ model }), await review({})];
    equal(first.report, second.report, 'two reports of one manifest');
    equal(first.report, without.report, 'the report of a caller without a model');
    assert(without.not_narrated && !without.narration, JSON.stringify(without));
    // On the call's stream in 2025-11-25, by a second round in 2026-07-28: the same question either way.
    equal(asked.length, 2, 'times that the model was asked');
    equal(asked[0], asked[1], 'what the model was asked');
    equal(first.narration, 'Looks fine to me.', 'narration');
  });
}

function sleep(milliseconds) {
  return new Promise(resolve => setTimeout(resolve, milliseconds));
}

// Each refund of a run is about another ticket, so that none is a repetition.
let ticket = Number(process.env.FLOWX_FIRST_TICKET ?? 0);
function nextTicket() {
  ticket += 1;
  return `T-${1001 + (ticket % 10)}`;
}
