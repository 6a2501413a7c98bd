// The official TypeScript clients, v1 and v2, behind the few names that the checks use.
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HTTPV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as ClientV2, StreamableHTTPClientTransport as HTTPV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';

const me = { name: 'patterngate-ci', version: '1' };
const modern = { versionNegotiation: { mode: { pin: '2026-07-28' } } };

// kinds are the clients under test, each in the protocol eras it speaks.
export const kinds = [
  { name: 'TypeScript v1', era: '2025-11-25', Stdio: StdioV1, HTTP: HTTPV1, client: () => new ClientV1(me), v1: true },
  { name: 'TypeScript v2', era: '2025-11-25', Stdio: StdioV2, HTTP: HTTPV2, client: () => new ClientV2(me) },
  { name: 'TypeScript v2', era: '2026-07-28', Stdio: StdioV2, HTTP: HTTPV2, client: () => new ClientV2(me, modern) },
];

// overStdio lets the client start the server itself.
export function overStdio(kind, binary, config) {
  return new kind.Stdio({ command: binary, args: ['--config', config, 'serve'], stderr: 'pipe' });
}

// overHTTP connects to a server that runs; token is absent where none is asked for.
export function overHTTP(kind, url, token) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  return new kind.HTTP(new URL(url), { requestInit: { headers } });
}

// connect opens a session. tamper, where given, changes each message from the server before the client sees it.
export async function connect(kind, transport) {
  const client = kind.client();
  const session = { client, kind, http: transport instanceof kind.HTTP, tamper: undefined };
  await client.connect(transport);
  const deliver = transport.onmessage;
  transport.onmessage = (message, extra) => deliver(session.tamper ? session.tamper(message) : message, extra);
  session.call = (name, args, options) =>
    kind.v1 ? client.callTool({ name, arguments: args }, undefined, options) : client.callTool({ name, arguments: args }, options);
  session.close = () => client.close();
  return session;
}
