// How long a server's event loop is held by one piece of work.
import { WebSocket } from 'ws';
import { within } from './client.mjs';

/** Runs `source` in the server; what it returns. */
async function inServer(inspectorUrl, source) {
  const socket = new WebSocket(inspectorUrl);
  await within(new Promise((resolve) => socket.once('open', resolve)), 'the inspector');
  const answer = new Promise((resolve) => socket.once('message', (data) => resolve(JSON.parse(data.toString()))));
  socket.send(
    JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression: source, returnByValue: true } }),
  );
  const { result } = await within(answer, 'the inspector');
  socket.terminate();
  return result?.result?.value;
}

const TICK_MS = 5;

/**
 * The longest delay of a tick, in ms, without the time for which the loop's thread waited for a processor: computing and
 * synchronous I/O block the loop, other processes do not.
 */
const WATCH_LOOP = `(() => {
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const waited = () => Number(readFileSync('/proc/self/task/' + process.pid + '/schedstat', 'utf8').split(' ')[1]) / 1e6;
  let last = [performance.now(), waited()];
  globalThis.longestBlock = 0;
  setInterval(() => {
    const now = [performance.now(), waited()];
    globalThis.longestBlock = Math.max(globalThis.longestBlock, now[0] - last[0] - ${TICK_MS} - (now[1] - last[1]));
    last = now;
  }, ${TICK_MS}).unref();
})()`;

/** Begins to watch; each call of what it resolves to gives the longest block since the last one, in ms. */
export async function watchLoop(inspectorUrl) {
  await inServer(inspectorUrl, WATCH_LOOP);
  return async () => {
    const longest = await inServer(inspectorUrl, 'globalThis.longestBlock');
    await inServer(inspectorUrl, 'globalThis.longestBlock = 0');
    return longest;
  };
}
