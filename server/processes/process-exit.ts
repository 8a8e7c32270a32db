/**
 * Exits this process. While one of its threads is blocked in a system call, for example on a hanging mount,
 * `process.exit` would wait forever; in that case the process kills itself after all exit handlers.
 */
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 10;
/** Grace period for system calls that are pending at exit. */
const SETTLE_MS = 250;

/** Class names of thread-pool requests, to distinguish them from those of sockets. */
const POOL_REQUEST = /^(FSReq|GetAddrInfoReq|GetNameInfoReq)/;

const tasks = new Set<() => void>();

function runTasks(): void {
  for (const task of tasks) {
    try {
      task();
    } catch {
      // The other tasks must still run, and the log is closed already.
    }
  }
}

/** Registers a synchronous task for the exit of this process; the returned function removes it. */
export function runAtExit(task: () => void): () => void {
  if (tasks.size === 0) process.on('exit', runTasks);
  tasks.add(task);
  return () => {
    tasks.delete(task);
    if (tasks.size === 0) process.off('exit', runTasks);
  };
}

const threadCalls = new Set<() => readonly object[]>();

/**
 * Registers a source of pending worker-thread calls: one object per call, identical as long as the call is pending. The
 * returned function removes it.
 */
export function reportThreadCalls(calls: () => readonly object[]): () => void {
  threadCalls.add(calls);
  return () => void threadCalls.delete(calls);
}

/** Pending thread-pool calls. The function is undocumented, but no other API identifies individual calls. */
function poolCalls(): unknown[] {
  const list: unknown = Reflect.get(process, '_getActiveRequests');
  const requests: unknown = typeof list === 'function' ? Reflect.apply(list, process, []) : [];
  if (!Array.isArray(requests)) return [];
  return requests.filter(
    (request: unknown) => request instanceof Object && POOL_REQUEST.test(request.constructor.name),
  );
}

/** True if a system call that is pending now is still pending after `ms`; false as soon as all of them have settled. */
export async function threadsBlocked(ms: number): Promise<boolean> {
  const pending = () => [...poolCalls(), ...[...threadCalls].flatMap((calls) => calls())];
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

/** Exits with the code; by SIGKILL if threads are blocked. Later calls return the first call's promise. */
export function endProcess(code: number): Promise<never> {
  ending ??= threadsBlocked(SETTLE_MS).then((blocked) => {
    // Registered last, so that it runs after all other exit listeners.
    if (blocked) process.on('exit', () => process.kill(process.pid, 'SIGKILL'));
    process.exit(code);
  });
  return ending;
}
