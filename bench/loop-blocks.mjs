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

/** The longest time between two ticks that was CPU time of the loop's thread as well, in ms. */
const WATCH_LOOP = `(() => {
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const cpu = () => Number(readFileSync('/proc/self/task/' + process.pid + '/schedstat', 'utf8').split(' ')[0]) / 1e6;
  let last = [performance.now(), cpu()];
  globalThis.longestBlock = 0;
  setInterval(() => {
    const now = [performance.now(), cpu()];
    globalThis.longestBlock = Math.max(globalThis.longestBlock, Math.min(now[0] - last[0], now[1] - last[1]));
    last = now;
  }, 5).unref();
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
