// Puts the official TypeScript clients through the checks, over stdio and HTTP.
// usage: node run.mjs PATTERNGATE CONFIG DRIVEN     (../node_modules is installed; DRIVEN gets a line a call; HOME is for its files)
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { all, calls, expect, own, readJSON, refund } from './checks.mjs';
import { connect, kinds, overHTTP, overStdio } from './clients.mjs';
import { Log, serveHTTP } from './server.mjs';

const [binary, config, driven] = process.argv.slice(2);
const drove = (kind) => (tool) => appendFileSync(driven, `${tool}\t${kind.name}\n`);

// checked runs one check and says so; a fault is told with the client and the check.
async function checked(kind, name, check) {
  const label = `${kind.name} ${kind.era} ${name}`;
  try {
    await check();
  } catch (fault) {
    throw new Error(label, { cause: fault });
  }
  console.log(`ok ${label}`);
}

async function checkAll(kind, transport, session, log) {
  for (const [name, check] of Object.entries(all)) {
    await checked(kind, `${transport}: ${name}`, () => check(session, { log, drove: drove(kind) }));
  }
}

async function stdio(kind) {
  const transport = overStdio(kind, binary, config);
  const log = new Log().feed(transport.stderr);
  const session = await connect(kind, transport);
  await checkAll(kind, 'stdio', session, log);
  await session.close();
}

async function http(kind) {
  const server = await serveHTTP(binary, config);
  const session = await connect(kind, overHTTP(kind, server.url));
  await checkAll(kind, 'http', session, server.log);
  await session.close();
  await server.stop();
}

// tokens: who has none or a wrong one is refused, and one principal's run is nobody else's.
async function tokens(kind) {
  const file = join(mkdtempSync(join(homedir(), 'tokens-')), 'tokens');
  writeFileSync(file, 'ann: 0123456789abcdef-ann\nbob: 0123456789abcdef-bob\n', { mode: 0o600 });
  const server = await serveHTTP(binary, config, ['--token-file', file]);
  for (const token of [undefined, 'wrong', '0123456789abcdef-an']) {
    await assert.rejects(connect(kind, overHTTP(kind, server.url, token)), (e) => [e.code, e.status].includes(401));
  }
  const [ann, bob] = await Promise.all(['ann', 'bob'].map((n) => connect(kind, overHTTP(kind, server.url, `0123456789abcdef-${n}`))));
  const { run_id } = (await ann.call('supervised_refund', own({ goal: refund.goal, actions: [] }))).structuredContent;
  const stranger = calls.find((c) => c.reason === 'invalid_request:not_found:run_id');
  expect(await bob.call('supervised_refund', { run_id, actions: [refund.actions[0]] }), stranger);
  await assert.rejects(bob.client.readResource({ uri: `patterngate://runs/${run_id}` }));
  for (const tool of ['run_status', 'run_wait', 'run_cancel']) expect(await bob.call(tool, { run_id }), { ...stranger, tool });
  assert.deepEqual((await bob.call('list_runs', {})).structuredContent.runs, []);
  const ended = (await ann.call('supervised_refund', { run_id, actions: refund.actions })).structuredContent;
  assert.equal(ended.stop_reason, 'success');
  assert.equal((await readJSON(ann, `patterngate://runs/${run_id}`)).stop_reason, 'success');
  await Promise.all([ann.close(), bob.close()]);
  await server.stop();
}

for (const kind of kinds) {
  await stdio(kind);
  await http(kind);
  await checked(kind, 'http: tokens and principals', () => tokens(kind));
}
