// Puts the official TypeScript clients before a gate with other people's servers behind it, over stdio and HTTP: every call
// of ../own.json, and what is not behind the gate.
// usage: node own.mjs PATTERNGATE CONFIG DRIVEN     (../node_modules is installed; DRIVEN gets a line a call)
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import { expect, own } from './checks.mjs';
import { connect, kinds, overHTTP, overStdio } from './clients.mjs';
import { serveHTTP } from './server.mjs';

const [binary, config, driven] = process.argv.slice(2);
const { tools, absent, never, calls } = JSON.parse(readFileSync(new URL('../own.json', import.meta.url)));

// driveAll makes all calls. Each is keyed, so that none is given the result of an equal one before it.
async function driveAll(session) {
  const { kind, client } = session;
  const listed = (await client.listTools()).tools;
  assert.deepEqual(listed.map((t) => t.name), tools);
  const shown = Object.keys(listed[0].inputSchema.properties ?? {});
  assert.ok(!shown.includes('path'), `list_orders shows an argument that the configuration sets: ${shown}`);
  for (const c of calls) {
    const args = tools.indexOf(c.tool) < tools.indexOf('describe_catalog') ? own(c.args) : c.args;
    const result = await session.call(c.tool, args);
    try {
      expect(result, c);
      assert.ok(!JSON.stringify(result).includes(never), `${c.tool} holds a variable that no server was given`);
    } catch (fault) {
      throw new Error(`${kind.name} ${kind.era} ${JSON.stringify(c)}`, { cause: fault });
    }
    appendFileSync(driven, `${c.tool}\t${kind.name}\n`);
  }
  for (const name of absent) await assert.rejects(session.call(name, {}), { code: -32602 });
  console.log(`ok ${kind.name} ${kind.era} ${session.http ? 'http' : 'stdio'}: ${calls.length} calls, ${absent.length} tools that are not there`);
  await session.close();
}

for (const kind of kinds) {
  await driveAll(await connect(kind, overStdio(kind, binary, config)));
  const server = await serveHTTP(binary, config);
  await driveAll(await connect(kind, overHTTP(kind, server.url)));
  await server.stop();
}
