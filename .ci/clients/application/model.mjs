// A stub of a model server, for applications: OpenAI's Responses API and Chat Completions, streamed or not. The "model" is
// a few rules: it is asked for a refund, takes the tool, follows `next` of each result action by action, and tells the user
// what came of it. It prints its base URL and serves until it is stopped.
import { createServer } from 'node:http';

// decide is the model: what it does next, from the user's words, the tools it is offered and the results so far. It
// returns {say} or {name, arguments}.
function decide(asked, offered, results) {
  if (!offered.includes('supervised_refund')) return { say: 'I have no tool for refunds.' };
  const user_id = Number(/user_id=(\d+)/.exec(asked)[1]);
  const act = (name, args) => ({ kind: 'tool', name, args: { user_id, ...args } });
  if (results.length === 0) {
    return { name: 'supervised_refund', arguments: { goal: asked, actions: [act('get_refund_context')] } };
  }
  const { status, next, last, reason } = reading(results.at(-1));
  if (status === 'ok') return { say: `Refund finished after ${results.length} calls: ${reason}` };
  if (status !== 'waiting' || next?.action !== 'call') return { say: `Refund not finished: ${reason}` };
  const action = last.billing ? act('issue_refund', { amount_usd: last.billing.last_charge_usd, reason: 'asked by the customer' })
    : last.refund ? act('send_refund_email', { amount_usd: last.refund.amount_usd, message: 'Your refund is on its way.' })
      : { kind: 'final', answer: `Refunded and told ${last.email.to}.` };
  return { name: next.tool, arguments: { ...next.arguments, actions: [action] } };
}

// reading finds what is to be done in a tool's result, as the application hands it to its model: the structured result
// under a heading (Codex), the list of contents (Continue) or their text alone.
function reading(output) {
  const result = output.replace(/^Wall time: .*\nOutput:\n/, '');
  const found = /^[[{]/.test(result) ? JSON.parse(result) : result;
  if (found.status) return { status: found.status, next: found.next, last: found.waiting_for?.last_observation, reason: found.summary };
  const lines = text(found.content ?? found).split('\n');
  const member = (name) => JSON.parse(lines.find((l) => l.startsWith(`${name} {`))?.slice(name.length) ?? 'null');
  return { status: lines[0].split(' ')[0].toLowerCase(), next: member('NEXT'), last: member('WAITING_FOR')?.last_observation, reason: lines[1] };
}

const text = (content) => (typeof content === 'string' ? content : (content ?? []).map((c) => c.text ?? '').join('\n'));
const plain = (name) => (/(^|_)supervised_refund$/.test(name) ? 'supervised_refund' : name); // less the application's prefix

// responses answers POST /responses: MCP tools come in namespaces.
function responses(body) {
  const tools = body.tools.flatMap((t) => (t.tools ?? [t]).map((f) => ({ name: f.name, namespace: t.tools && t.name })));
  const said = body.input.filter((i) => i.role === 'user').map((i) => text(i.content));
  const results = body.input.filter((i) => i.type === 'function_call_output').map((i) => text(i.output));
  const move = decide(said.at(-1), tools.map((t) => plain(t.name)), results);
  const tool = tools.find((t) => move.name && plain(t.name) === move.name);
  const item = tool
    ? { type: 'function_call', id: `fc_${results.length}`, call_id: `call_${results.length}`, ...tool, arguments: JSON.stringify(move.arguments) }
    : { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: move.say }] };
  const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 };
  return [
    { type: 'response.created', response: { id: 'resp_1' } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: 'resp_1', usage } },
  ];
}

// completions answers POST /chat/completions.
function completions(body) {
  const names = (body.tools ?? []).map((t) => t.function.name);
  const said = body.messages.filter((m) => m.role === 'user').map((m) => text(m.content));
  const results = body.messages.filter((m) => m.role === 'tool').map((m) => text(m.content));
  const move = decide(said.at(-1), names.map(plain), results);
  const name = names.find((n) => move.name && plain(n) === move.name);
  const call = { index: 0, id: `call_${results.length}`, type: 'function', function: { name, arguments: JSON.stringify(move.arguments) } };
  const message = name ? { role: 'assistant', content: null, tool_calls: [call] } : { role: 'assistant', content: move.say };
  const finish_reason = name ? 'tool_calls' : 'stop';
  const about = { id: 'chat_1', created: 0, model: body.model };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  if (!body.stream) return { ...about, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage };
  const chunk = (choices, usage) => ({ ...about, object: 'chat.completion.chunk', choices, ...usage });
  return [
    chunk([{ index: 0, delta: message, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason }]),
    chunk([], { usage }),
  ];
}

const server = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  const answer = { '/v1/responses': responses, '/v1/chat/completions': completions }[request.url];
  if (request.method !== 'POST' || !answer) return response.writeHead(404).end();
  let reply;
  try {
    reply = answer(JSON.parse(body));
  } catch (fault) {
    console.error(fault, body);
    return response.writeHead(400).end();
  }
  if (!Array.isArray(reply)) return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of reply) response.write(`${event.type ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`);
  response.end('data: [DONE]\n\n');
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
