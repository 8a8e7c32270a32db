/**
 * An MCP server over stdio that misbehaves as the comma-separated modes of its first argument specify. It implements
 * only the handshake and tool calls.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [modes = '', file = ''] = process.argv.slice(2);
const is = (mode) => modes.split(',').includes(mode);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

if (file) appendFileSync(file, `started ${process.pid}\n`);
if (is('crash')) {
  process.stderr.write(`${'x'.repeat(5000)}\nlast words\n`);
  process.exit(3);
}
if (is('crash-once') && !existsSync(`${file}.once`)) {
  appendFileSync(`${file}.once`, '');
  process.exit(4);
}
if (is('stubborn')) process.on('SIGTERM', () => undefined);
if (is('grandchild')) {
  const deaf = is('stubborn') ? "process.on('SIGTERM', () => undefined);" : '';
  const program = `${deaf} setInterval(() => undefined, 1000); console.log('up');`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.once('data', () => appendFileSync(file, `grandchild ${child.pid}\n`));
}
if (is('long-line')) process.stdout.write(`{"jsonrpc":"2.0","method":"${'x'.repeat(17 * 1024 * 1024)}"}\n`);
if (is('noise')) process.stdout.write('Listening on nothing\n{"broken": \n[1,2,3]\n"text"\n{"jsonrpc":"1.0"}\n');
if (is('flood')) {
  const line = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } })}\n`;
  const block = line.repeat(500);
  const pour = () => {
    while (process.stdout.write(block));
    process.stdout.once('drain', pour);
  };
  setTimeout(pour, 50);
}
if (is('request-flood')) {
  let id = 0;
  setInterval(() => {
    for (let n = 0; n < 1000; n++) send({ id: `f${(id += 1)}`, method: 'ping' });
  }, 20);
}
if (is('logs')) {
  for (let n = 0; n < 2000; n++)
    send({ method: 'notifications/message', params: { level: 'info', data: `line ${n}` } });
}
if (is('asks')) setTimeout(() => send({ id: 'q1', method: 'roots/list' }), 300);
if (is('asks')) setTimeout(() => send({ id: 'q2', method: 'sampling/createMessage', params: { messages: [] } }), 300);

const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const tools = [{ name: 'echo', description: 'Says it again.', inputSchema: schema }];
if (is('bad-schemas')) {
  tools.push(
    { name: 'no-object', inputSchema: { type: 'string' } },
    { name: 'no-schema' },
    { name: 'lie', inputSchema: { type: 'object', properties: { a: { type: 'nothing' } } } },
    { name: 'remote', inputSchema: { type: 'object', properties: { a: { $ref: 'https://example.com/a.json' } } } },
    { name: 'huge', inputSchema: { type: 'object', description: 'x'.repeat(300_000) } },
    { name: 'regular', inputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } } },
    'not even an object',
  );
}
if (is('collision')) tools.push({ name: 'a.b', inputSchema: schema }, { name: 'a b', inputSchema: schema });
if (is('many')) {
  for (let i = 0; i < 15; i++) tools.push({ name: `tool_${i}`, description: 'd'.repeat(1000), inputSchema: schema });
}

const results = {
  text: (text) => ({ content: [{ type: 'text', text }] }),
};

function call({ name, arguments: args = {}, _meta }, id) {
  const text = String(args.text ?? '');
  const progress = (fields) =>
    send({ method: 'notifications/progress', params: { progressToken: _meta?.progressToken, ...fields } });
  if (file) appendFileSync(file, `call ${name} ${text}\n`);
  if (text === 'exit') process.exit(5);
  if (text === 'exit-once' && !existsSync(`${file}.exited`)) {
    appendFileSync(`${file}.exited`, '');
    process.exit(6);
  }
  if (text === 'hang') return;
  if (text === 'malformed') return send({ id, result: { content: 'none' } });
  if (text === 'refused') return send({ id, error: { code: -32000, message: 'not today' } });
  if (text === 'error') return send({ id, result: { content: [{ type: 'text', text: 'it failed' }], isError: true } });
  if (text === 'env') return send({ id, result: results.text(JSON.stringify(process.env)) });
  if (text === 'cwd') return send({ id, result: results.text(process.cwd()) });
  if (text === 'huge') return send({ id, result: results.text('y'.repeat(150_000)) });
  if (text.startsWith('nested:')) {
    const levels = Number(text.slice(7));
    const structured = `{"deep":${'['.repeat(levels)}${']'.repeat(levels)},"flat":"[[["}`;
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${structured}}}\n`);
    return;
  }
  if (text.startsWith('raw:')) return send({ id, result: JSON.parse(text.slice(4)) });
  // The client's answer becomes the result of the call.
  if (text === 'roots') return send({ id: `roots-${id}`, method: 'roots/list' });
  if (text === 'progress') {
    for (let i = 1; i <= 100; i++) progress({ progress: i, total: 200, message: `step ${i}` });
    setTimeout(() => send({ id, result: results.text('done') }), 50);
    return;
  }
  if (text === 'pings') {
    for (let n = 0; n < 100; n++) send({ id: `ping-${n}`, method: 'ping' });
    setTimeout(() => send({ id, result: results.text('asked') }), 50);
    return;
  }
  if (text === 'steady') {
    let step = 0;
    const timer = setInterval(() => {
      progress({ progress: (step += 1) });
      if (step < 200) return;
      clearInterval(timer);
      send({ id, result: results.text('done') });
    }, 10);
    return;
  }
  send({ id, result: results.text(`${name}: ${text}`) });
  if (is('twice')) send({ id, result: results.text('again') });
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {}, result, error } = JSON.parse(line);
  if (file && (method === undefined || method === 'notifications/cancelled')) {
    appendFileSync(file, `${method ?? 'answer'} ${JSON.stringify(result ?? error ?? params)}\n`);
  }
  if (is('silent')) return;
  if (method === undefined && String(id).startsWith('roots-')) {
    send({ id: Number(id.slice('roots-'.length)), result: results.text(JSON.stringify(result)) });
    return;
  }
  if (method === 'initialize') {
    if (file) appendFileSync(file, `client ${JSON.stringify(params)}\n`);
    const answer = { protocolVersion: params.protocolVersion, capabilities: { tools: {} } };
    send({ id, result: { ...answer, serverInfo: { name: 'hostile', version: '1' } } });
  } else if (method === 'tools/list') {
    if (is('silent-list')) return;
    send({ id, result: { tools, ...(is('endless') ? { nextCursor: `${Date.now()}${Math.random()}` } : {}) } });
  } else if (method === 'ping') send({ id, result: {} });
  else if (method === 'tools/call') call(params, id);
  else if (id !== undefined && method !== undefined) send({ id, error: { code: -32601, message: 'no' } });
});
if (!is('stubborn')) process.stdin.on('end', () => process.exit(0));
