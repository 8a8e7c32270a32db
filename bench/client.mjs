// The load generator: few and cheap requests over keep-alive connections, and sockets that search for words instead of
// parsing.
import { Agent, request as httpRequest } from 'node:http';
import { WebSocket } from 'ws';

export const WAIT_MS = 30_000;

/** Rejects when `promise` takes longer. */
export function within(promise, what, waitMs = WAIT_MS) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took over ${waitMs} ms`)), waitMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Requests to one server: `{ send(method, path, body), api(...), close() }`. */
export function createClient({ url, token }, { waitMs = WAIT_MS } = {}) {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const { hostname, port } = new URL(url);

  function send(method, path, body) {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    };
    const answer = new Promise((resolve, reject) => {
      const request = httpRequest({ agent, hostname, port, method, path, headers }, (response) => {
        const chunks = [];
        response.on('data', (data) => chunks.push(data));
        response.on('end', () => resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }));
        response.on('error', reject);
      });
      request.on('error', reject);
      request.end(text);
    });
    return within(answer, `${method} ${path}`, waitMs);
  }

  return {
    send,
    /** The envelope's data; fails unless the code is 0. */
    async api(method, path, body) {
      const { text } = await send(method, `/api/v1${path}`, body);
      const { code, msg, data } = JSON.parse(text);
      if (code !== 0) throw new Error(`${method} ${path}: ${code} ${msg}`);
      return data;
    },
    close: () => agent.destroy(),
  };
}

/** Opens a socket that follows sessions; `next(words)` resolves at the next frame that contains all words. */
export async function follow({ url, token }, sessionIds) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/ws`, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
  });
  let wanted = [];
  socket.on('message', (data) => {
    const met = wanted.filter(({ words }) => words.every((word) => data.includes(word)));
    if (met.length === 0) return;
    wanted = wanted.filter((each) => !met.includes(each));
    for (const { resolve } of met) resolve();
  });
  const next = (...words) =>
    within(new Promise((resolve) => wanted.push({ words: words.map((word) => Buffer.from(word)), resolve })), words[0]);
  socket.on('error', () => undefined);
  await next('"server_hello"');
  const subscribed = next('"ack"');
  socket.send(JSON.stringify({ type: 'subscribe', id: 1, payload: { session_ids: sessionIds } }));
  await subscribed;
  return { next, close: () => socket.terminate() };
}

/** A session of the server; `turn(events, text)` runs one prompt to its end and resolves to the milliseconds it took. */
export const sessionWith = (client, id) => ({
  id,
  async turn(events, text) {
    const begun = performance.now();
    const ended = events.next('"prompt.completed"', id);
    await Promise.all([ended, client.api('POST', `/sessions/${id}/prompts`, { content: [{ type: 'text', text }] })]);
    return performance.now() - begun;
  },
});

/** Creates a session in `project`. */
export async function openSession(server, client, project) {
  const { id } = await client.api('POST', '/sessions', { metadata: { cwd: project } });
  return sessionWith(client, id);
}

/** Heap in use after a garbage collection, including buffers, in MiB. */
export async function heapMiB(inspectorUrl) {
  const socket = new WebSocket(inspectorUrl);
  let id = 0;
  const call = (method) => {
    id += 1;
    const wanted = id;
    const answer = new Promise((resolve, reject) => {
      socket.on('message', function look(data) {
        const message = JSON.parse(data.toString());
        if (message.id !== wanted) return;
        socket.off('message', look);
        if (message.error) reject(new Error(message.error.message));
        else resolve(message.result);
      });
    });
    socket.send(JSON.stringify({ id: wanted, method }));
    return within(answer, method);
  };
  await within(new Promise((resolve) => socket.once('open', resolve)), 'the inspector');
  // Objects that a finalizer releases are collected by the next run.
  for (let n = 0; n < 3; n += 1) await call('HeapProfiler.collectGarbage');
  const { usedSize, backingStorageSize = 0 } = await call('Runtime.getHeapUsage');
  socket.terminate();
  return (usedSize + backingStorageSize) / 2 ** 20;
}
