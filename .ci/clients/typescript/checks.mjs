// What every client is put through, whatever its version, era and transport. A check fails by throwing.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

export const { tools, patterns, calls, morning, ticket, misspelt, refund } = JSON.parse(readFileSync(new URL('../calls.json', import.meta.url)));

// own makes a call begin a run of its own, where an equal one may still wait.
export const own = (args) => ({ ...args, idempotency_key: randomUUID() });

// all are the checks in order: a name and what is done with a session. log is the server's; drove counts a call of a tool
// that ended as it should.
export const all = {
  'lists the tools': async ({ client }) => {
    const listed = (await client.listTools()).tools;
    assert.deepEqual(listed.map((t) => t.name), tools);
    for (const t of listed) assert.ok(t.description && t.outputSchema && t.annotations, `${t.name}: description, output schema, annotations`);
    assert.match(client.getInstructions(), /You propose calls; Patterngate checks each one/);
  },

  'calls every tool with good and bad input': async (session, { drove }) => {
    for (const c of calls) {
      expect(await session.call(c.tool, c.args), c);
      drove(c.tool);
    }
    await assert.rejects(session.call('run_everything', {}), { code: -32602 });
  },

  'refuses by itself a result that does not fit its schema': async (session) => {
    session.tamper = (m) => (m.result?.structuredContent ? { ...m, result: { ...m.result, structuredContent: { status: 42 } } } : m);
    try {
      await assert.rejects(session.call('describe_catalog', {}), /schema|structured/i);
    } finally {
      session.tamper = undefined;
    }
  },

  'follows next to repair a plan': async (session, { drove }) => {
    const refused = await session.call('run_task_decomposition', misspelt);
    const { next } = refused.structuredContent;
    assert.equal(next.action, 'fix_and_retry');
    assert.deepEqual([next.changed, next.fill], [[{ pointer: '/plan/steps/1/tool', from: 'fetch_sale_data', to: 'fetch_sales_data' }], []]);
    expect(await session.call(next.tool, next.arguments), { tool: next.tool, status: 'ok', reason: 'success' });
    drove(next.tool);
  },

  'hears progress': async (session, { drove }) => {
    const seen = [];
    const result = await session.call('run_orchestrator', own(morning), { onprogress: (p) => seen.push(p) });
    expect(result, { tool: 'run_orchestrator', status: 'ok', reason: 'success' });
    const values = seen.map((p) => p.progress);
    assert.deepEqual(values, values.map((_, i) => values[0] + i), 'progress rises by one');
    for (const p of seen) assert.match(p.message, /^[a-z_]+: .{1,110}$/);
    assert.ok(seen.some((p) => p.message === 'dispatch: payments_worker timed out, attempt 2'), JSON.stringify(seen));
    drove('run_orchestrator');
  },

  'cancels a run': async (session, { log }) => {
    const cancel = new AbortController();
    const onprogress = (p) => p.message.startsWith('dispatch: ') && cancel.abort('the person changed their mind');
    await assert.rejects(session.call('run_orchestrator', own(morning), { onprogress, signal: cancel.signal }));
    if (session.http && session.kind.era === '2026-07-28') { // cancels by closing the connection, as if it were lost: the run goes on
      const [{ run_id }] = (await session.call('list_runs', { status: 'running' })).structuredContent.runs;
      assert.equal((await session.call('run_cancel', { run_id })).structuredContent.stop_reason, 'cancelled');
    }
    const [, id] = await log.line(/ run ended run_id=(run_[0-9a-f]{16}) .*stop_reason=cancelled/);
    assert.equal((await readJSON(session, `patterngate://runs/${id}`)).stop_reason, 'cancelled');
  },

  'plays a refund action by action': async (session, { drove }) => {
    let at = (await session.call('supervised_refund', own({ goal: refund.goal, actions: [] }))).structuredContent;
    const id = at.run_id;
    for (const action of refund.actions) {
      assert.deepEqual([at.status, at.waiting_for.kind, at.next.action, at.next.fill], ['waiting', 'caller', 'call', ['/actions']]);
      const result = await session.call(at.next.tool, { ...at.next.arguments, actions: [action] });
      at = result.structuredContent;
      drove('supervised_refund');
    }
    assert.deepEqual([at.status, at.stop_reason, at.run_id, at.answer], ['ok', 'success', id, refund.actions.at(-1).answer]);
    assert.deepEqual(at.effects.filter((e) => e.effect === 'write').map((e) => [e.tool, e.status]),
      [['issue_refund', 'done'], ['send_refund_email', 'done']]);
    assert.equal(at.history.find((h) => h.executed_action.name === 'issue_refund').observation.refund.amount_usd, refund.paid);
    assert.equal((await readJSON(session, `patterngate://runs/${id}`)).stop_reason, 'success');
  },

  'routes a ticket anew when the specialist declines': async (session, { drove }) => {
    const declined = await session.call('route_ticket', own({ ticket, route: { target: 'technical_specialist' } }));
    expect(declined, { tool: 'route_ticket', status: 'waiting' });
    const { next } = declined.structuredContent;
    assert.deepEqual([next.action, next.fill], ['call', ['/route']]);
    const result = await session.call(next.tool, { ...next.arguments, route: { target: 'billing_specialist' } });
    expect(result, { tool: 'route_ticket', status: 'ok', reason: 'success', holds: '"selected_route":"billing_specialist"' });
    drove('route_ticket');
  },

  'starts a run, leaves it and comes back': async (session, { drove }) => {
    const { call } = session;
    const keyed = own({ ...morning, max_wait_seconds: 0 });
    const started = await call('run_orchestrator', keyed);
    const { status, run_id, next } = started.structuredContent;
    assert.deepEqual([status, next.action, next.tool, started.isError ?? false], ['running', 'call', 'run_wait', false], started.content[0].text);
    const again = (await call('run_orchestrator', keyed)).structuredContent;
    assert.deepEqual([again.run_id, again.joined], [run_id, true]);
    const other = await call('run_orchestrator', { ...keyed, region: 'EU' });
    expect(other, { tool: 'run_orchestrator', status: 'refused', reason: 'invalid_request:reused:idempotency_key' });
    const actions = [];
    for (const _ of [1, 2]) actions.push((await call('run_wait', { run_id, max_wait_seconds: 0 })).structuredContent.next.action);
    assert.deepEqual(actions, ['call', 'end_turn'], 'who asks again without a change is told to end the turn');
    const success = { tool: 'run_orchestrator', status: 'ok', reason: 'success', holds: run_id };
    expect(await call(next.tool, next.arguments), success);
    drove('run_wait');
    const shown = await call('run_status', { run_id });
    expect(shown, success);
    assert.ok(shown.structuredContent.record.events > 5 && shown.structuredContent.ended_at, JSON.stringify(shown.structuredContent.record));
    const step = (await call('run_status', { run_id, step: 'task_2' })).structuredContent.step;
    assert.equal(step.observation.worker, 'payments_worker');
    drove('run_status');
    const listed = (await call('list_runs', { pattern: 'run_orchestrator', limit: 1 })).structuredContent;
    assert.deepEqual(listed.runs.map((r) => [r.run_id, r.status]), [[run_id, 'ok']]);
    assert.ok(listed.next_cursor);
    drove('list_runs');
  },

  'cancels a run that waits': async (session, { drove }) => {
    const { run_id } = (await session.call('supervised_refund', own({ goal: refund.goal, actions: [] }))).structuredContent;
    const waits = (await session.call('run_wait', { run_id, max_wait_seconds: 0.1 })).structuredContent;
    assert.deepEqual([waits.status, waits.waiting_for.kind, waits.next.tool], ['waiting', 'caller', 'supervised_refund']);
    drove('run_wait');
    const cancelled = { tool: 'supervised_refund', status: 'stopped', reason: 'cancelled', holds: run_id };
    expect(await session.call('run_cancel', { run_id, reason: 'the person changed their mind' }), cancelled);
    const again = await session.call('run_cancel', { run_id });
    expect(again, { ...cancelled, holds: 'already_ended' });
    drove('run_cancel');
  },

  'is told what is wrong with a continuation': async (session, { drove }) => {
    const at = (await session.call('supervised_refund', own({ goal: refund.goal, actions: [] }))).structuredContent;
    const send = async (args) => (await session.call('supervised_refund', { run_id: at.run_id, ...args })).structuredContent;
    const faulty = await send({ turn: 1, actions: [refund.misspelt] });
    assert.deepEqual([faulty.status, faulty.next.action, faulty.problems[0].did_you_mean], ['waiting', 'fix_and_retry', 'get_refund_context']);
    const mended = await send({ turn: 1, actions: [refund.actions[0]] });
    assert.deepEqual([mended.status, mended.waiting_for.turn], ['waiting', 2]);
    const late = await send({ turn: 1, actions: [refund.actions[1]] });
    assert.deepEqual([late.status, late.waiting_for.turn, late.problems[0].reason], ['waiting', 2, 'not_taken']);
    const other = await session.call('supervised_refund', { run_id: at.run_id, goal: 'Refund user_id=43', actions: [refund.actions[1]] });
    expect(other, { tool: 'supervised_refund', status: 'refused', reason: 'invalid_request:mismatch:goal' });
    drove('supervised_refund');
  },

  'hears of changes of a run that it subscribed to': async (session, { drove }) => {
    const { client, kind, call } = session;
    if (kind.era !== '2025-11-25') return; // 2026-07-28 has a stream of its own for it, which mcp-go does not feed
    const { run_id } = (await call('supervised_refund', own({ goal: refund.goal, actions: [] }))).structuredContent;
    const uri = `patterngate://runs/${run_id}`;
    await client.subscribeResource({ uri });
    const heard = notified(client, 'notifications/resources/updated');
    await call('supervised_refund', { run_id, actions: [refund.actions[0]] });
    drove('supervised_refund');
    assert.equal((await heard).uri, uri);
    await client.unsubscribeResource({ uri });
  },

  'reads resources': async (session) => {
    const { client, kind } = session;
    assert.deepEqual((await client.listResources()).resources.map((r) => r.uri), ['patterngate://catalog', 'patterngate://stop-reasons']);
    assert.ok((await client.listResourceTemplates()).resourceTemplates.some((t) => t.uriTemplate === 'patterngate://runs/{run_id}'));
    const [ended] = (await session.call('list_runs', { status: 'ok', limit: 1 })).structuredContent.runs;
    const record = (await client.readResource({ uri: `patterngate://runs/${ended.run_id}/trace` })).contents[0];
    assert.equal(record.mimeType, 'application/x-ndjson');
    assert.deepEqual(record.text.trim().split('\n').map((line) => JSON.parse(line).kind).filter((k) => !['intent', 'outcome', 'judged', 'late', 'note'].includes(k)),
      ['patterngate.export', 'start', 'end']);
    const names = (await readJSON(session, 'patterngate://catalog')).tools.map((t) => t.name);
    assert.ok(names.includes('issue_refund'), names.join());
    assert.ok((await readJSON(session, 'patterngate://stop-reasons')).some((r) => r.name === 'human_rejected'));
    const code = kind.era === '2025-11-25' ? -32002 : -32602;
    for (const uri of ['patterngate://nothing', 'patterngate://runs/run_0000000000000000']) {
      await assert.rejects(client.readResource({ uri }), { code });
    }
  },

  'gets prompts and completions': async ({ client }) => {
    const { prompts } = await client.listPrompts();
    assert.deepEqual(prompts.map((p) => p.name).sort(), patterns.toSorted());
    for (const p of prompts) {
      const given = Object.fromEntries(p.arguments.map((a) => [a.name, `my own ${a.name}`]));
      const { messages } = await client.getPrompt({ name: p.name, arguments: given });
      for (const value of [...Object.values(given), p.name]) assert.ok(messages[0].content.text.includes(value), `${p.name}: ${value}`);
    }
    await assert.rejects(client.getPrompt({ name: 'route_ticket', arguments: {} }), { code: -32602 });
    const complete = async (ref, name, value) => (await client.complete({ ref, argument: { name, value } })).completion.values;
    assert.deepEqual(await complete({ type: 'ref/prompt', name: 'run_orchestrator' }, 'region', 'U'), ['US']);
    assert.deepEqual(await complete({ type: 'ref/prompt', name: 'run_orchestrator' }, 'region', 'Z'), []);
    const ids = await complete({ type: 'ref/resource', uri: 'patterngate://runs/{run_id}' }, 'run_id', 'run_');
    assert.ok(ids.length > 0 && ids.every((id) => /^run_[0-9a-f]{16}$/.test(id)), ids.join());
  },

  'asks for log lines': async ({ client, kind, call }, { drove }) => {
    if (kind.era !== '2025-11-25') return; // logging/setLevel and ping went with that era
    const heard = notified(client, 'notifications/message');
    await client.ping();
    await client.setLoggingLevel('info');
    await call('route_ticket', { ticket, route: { target: 'billing_specialist' } });
    drove('route_ticket');
    const { logger, level, data } = await heard;
    assert.deepEqual([logger, level], ['patterngate', 'info']);
    assert.match(JSON.stringify(data), /run ended/);
  },
};

// wouldBe is how the text of a dry run begins, by its verdict.
const wouldBe = {
  block: 'WOULD BE BLOCKED', escalate: 'WOULD WAIT for a person', unknown: 'WOULD DEPEND on earlier results',
  revise: 'WOULD BE CHANGED', approve: 'WOULD BE APPROVED',
};

// expect compares a result, in both of its channels, with what should come: status is ok, stopped, waiting, or refused,
// which is stopped as an error.
export function expect(result, { tool, status, reason, holds }) {
  const got = result.structuredContent;
  const text = result.content[0].text;
  const word = status === 'refused' ? 'stopped' : status;
  const missing = { no: ', no call returned a result', partly: ', some calls returned no result' }[got.answered] ?? '';
  const begins = got.dry_run && got.judged && got.status === 'ok' ? wouldBe[got.verdict] : `${word.toUpperCase()} ${status === 'waiting' ? 'caller' : reason}`;
  const first = got.answered === 'no' && got.status === 'ok' ? 'NO RESULT' : `${begins}${missing}`;
  const head = `${first} | ${tool}`;
  assert.deepEqual([got.status, got.stop_reason, result.isError ?? false], [word, reason, status === 'refused'], text);
  assert.ok(text.startsWith(head), `${head}: ${text}`);
  if (holds) assert.ok(JSON.stringify(got).includes(holds), `${tool}: no ${holds} in ${JSON.stringify(got)}`);
}

// notified resolves to the first notification of that kind from now on.
function notified(client, method) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no ${method}`)), 20_000);
    client.fallbackNotificationHandler = async (n) => {
      if (n.method !== method) return;
      clearTimeout(timer);
      resolve(n.params);
    };
  });
}

export async function readJSON({ client }, uri) {
  const { contents } = await client.readResource({ uri });
  assert.deepEqual([contents.length, contents[0].uri, contents[0].mimeType], [1, uri, 'application/json']);
  return JSON.parse(contents[0].text);
}
