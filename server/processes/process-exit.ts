/**
 * Ending this process. While a thread of it is blocked in a system call, on a mount that hangs for example, exiting waits
 * for that thread without end; then the process kills itself after everything that must happen at an exit.
 */
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 10;
/** How long calls may take that are pending when the process is to end. */
const SETTLE_MS = 250;

/** Names of the requests that threads of Node's pool work on, among those of sockets. */
const POOL_REQUEST = /^(FSReq|GetAddrInfoReq|GetNameInfoReq)/;

const tasks = new Set<() => void>();

function runTasks(): void {
  for (const task of tasks) {
    try {
      task();
    } catch {
      // The others are to run, and no log takes an entry any more.
    }
  }
}

/** Runs the synchronous task when this process exits before the returned function is called. */
export function runAtExit(task: () => void): () => void {
  if (tasks.size === 0) process.on('exit', runTasks);
  tasks.add(task);
  return () => {
    tasks.delete(task);
    if (tasks.size === 0) process.off('exit', runTasks);
  };
}

const threadCalls: (() => readonly object[])[] = [];

/** Registers a source of the calls that worker threads have pending: one object for each, the same as long as it is. */
export function reportThreadCalls(calls: () => readonly object[]): void {
  threadCalls.push(calls);
}

/** Calls of the thread pool. The function is undocumented, but nothing else tells one call from the next. */
function poolCalls(): unknown[] {
  const list: unknown = Reflect.get(process, '_getActiveRequests');
  const requests: unknown = typeof list === 'function' ? Reflect.apply(list, process, []) : [];
  if (!Array.isArray(requests)) return [];
  return requests.filter(
    (request: unknown) => request instanceof Object && POOL_REQUEST.test(request.constructor.name),
  );
}

/** Whether one of the calls to the system that are pending now is still pending after so many ms; false as soon as none is. */
export async function threadsBlocked(ms: number): Promise<boolean> {
  const pending = () => [...poolCalls(), ...threadCalls.flatMap((calls) => calls())];
  const until = performance.now() + ms;
  let blocked = pending();
  while (blocked.length > 0 && performance.now() < until) {
    await delay(POLL_MS);
    const now = new Set(pending());
    blocked = blocked.filter((call) => now.has(call));
  }
  return blocked.length > 0;
}

let ending: Promise<never> | undefined;

/** Exits with the code, by SIGKILL where threads are blocked. The first call counts. */
export function endProcess(code: number): Promise<never> {
  ending ??= threadsBlocked(SETTLE_MS).then((blocked) => {
    // After all other listeners.
    if (blocked) process.on('exit', () => process.kill(process.pid, 'SIGKILL'));
    process.exit(code);
  });
  return ending;
}
