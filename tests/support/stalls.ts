/**
 * Watches the event loop while a test server runs. Server and test share this process, so a sampling profile attributes
 * the time: tests, their tools and module loading are excluded.
 */
import { readFileSync } from 'node:fs';
import { Session, type Profiler } from 'node:inspector';
import { resolve, sep } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const TICK_MS = 10;
/**
 * Stalls from this duration on are reported. Reading the profile and starting another takes longer than starting a
 * server, so the whole check uses a higher limit.
 */
const SHOWN_MS = process.env.SERVICE_CODE_STALLS === 'fail' ? 100 : 50;
/** Stalls from this duration on fail the test if `SERVICE_CODE_STALLS` is `fail`: a busy machine doubles durations. */
export const FORBIDDEN_MS = 150;
const SAMPLE_US = 5000;

export interface Stall {
  /** CPU milliseconds of the server's code. */
  ms: number;
  /** The stack where most of them were spent: functions with their locations, innermost first. */
  where: string;
}

const root = `${resolve(import.meta.dirname, '../..')}${sep}`;
/** The file that passes each request to the server; it is neither a test nor the server. */
const HARNESS = 'tests/support/server.ts';
const own = /^(server|utils|routes|plugins)\//;
/** Module loading, paid a single time per process: the first import of an SDK or a route. */
const loading = /^node:internal\/modules\/|\/(vite|vitest)\/dist\/.*(module-runner|module-evaluator|startModuleRunner)/;
/** Documents are generated once, on first request; only tests check replies against their schemas. */
const isExcused = ({ place, name }: ProfileNode) =>
  /^(utils\/documents\/|routes\/(asyncapi|openapi)\.json)/.test(place) || name === 'assertReply';
const tools =
  /^(tests|bench)\/|node_modules\/(vitest|@vitest|vite|chai|ajv|@asyncapi|expect-type)\/|^node:internal\/deps\/undici/;

/** Path relative to the project's root; other URLs unmodified. */
const placeOf = (url: string) => url.replace(pathToFileURL(root).href, '').replace(root, '').replace(/\?.*$/, '');

/** The stack of a sample, the innermost frame first. */
function stackOf(id: number, nodes: ReadonlyMap<number, ProfileNode>): ProfileNode[] {
  const stack: ProfileNode[] = [];
  for (let node = nodes.get(id); node; node = nodes.get(node.parent)) stack.push(node);
  return stack;
}

interface ProfileNode {
  parent: number;
  place: string;
  name: string;
  line: number;
}

function isServers(stack: readonly ProfileNode[]): boolean {
  if (stack.some((frame) => loading.test(frame.place) || isExcused(frame))) return false;
  // The outermost caller decides: a test that calls the server's code in a loop blocks the event loop itself.
  const outermost = stack.findLast(({ place }) => place !== HARNESS && (own.test(place) || tools.test(place)));
  if (outermost) return own.test(outermost.place);
  // A callback of a library, such as an SDK that reads its stream.
  return stack.some(({ place }) => place.includes('node_modules/'));
}

/** The server's share between two moments of the monotonic clock, in microseconds. */
function serversPart(profile: Profiler.Profile, from: number, to: number): { share: number; where: string } {
  const nodes = new Map<number, ProfileNode>();
  const parents = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  for (const { id, callFrame } of profile.nodes) {
    nodes.set(id, {
      parent: parents.get(id) ?? -1,
      place: placeOf(callFrame.url),
      name: callFrame.functionName || '(anonymous)',
      line: callFrame.lineNumber + 1,
    });
  }
  const spent = new Map<number, number>();
  let all = 0;
  let servers = 0;
  let at = profile.startTime;
  for (const [n, id] of (profile.samples ?? []).entries()) {
    const last = at;
    at += profile.timeDeltas?.[n] ?? 0;
    const length = (Math.min(at, to) - Math.max(last, from)) / 1000;
    if (length <= 0) continue;
    all += length;
    if (!isServers(stackOf(id, nodes))) continue;
    servers += length;
    spent.set(id, (spent.get(id) ?? 0) + length);
  }
  const [most] = [...spent].toSorted(([, a], [, b]) => b - a);
  const frames = most ? stackOf(most[0], nodes).filter(({ place }) => place !== '') : [];
  return {
    share: all === 0 ? 0 : servers / all,
    where: frames
      .slice(0, 6)
      .map(({ name, place, line }) => `${name} ${place}:${line}`)
      .join(' < '),
  };
}

const nowUs = () => Number(process.hrtime.bigint() / 1000n);

/** CPU of the JavaScript thread in µs; where the system does not report it, of all threads of the process. */
export function cpuUs(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
  } catch {
    const { user, system } = process.cpuUsage();
    return user + system;
  }
}

/** A long interval between two ticks; the profile attributes it when a server closes. */
interface Window {
  fromUs: number;
  toUs: number;
  cpuUs: number;
}

const session = new Session();
let profiling = false;
let watches = 0;
let timer: NodeJS.Timeout | undefined;
let last = { wall: 0, cpu: 0 };
let unread: Window[] = [];
const read: (Stall & { atUs: number })[] = [];

/** Starts the profile unless it runs: starting is more expensive than continuing, so servers of a process share it. */
function startProfile(): void {
  if (profiling) return;
  profiling = true;
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: SAMPLE_US });
  session.post('Profiler.start');
}

function readProfile(): void {
  session.post('Profiler.stop', (error, result) => {
    if (error) throw new Error(error.message);
    for (const { fromUs, toUs, cpuUs: spent } of unread) {
      const { share, where } = serversPart(result.profile, fromUs, toUs);
      const ms = (share * spent) / 1000;
      if (ms >= SHOWN_MS) read.push({ ms, where, atUs: fromUs });
    }
  });
  session.disconnect();
  profiling = false;
  unread = [];
}

function tick(): void {
  const before = last;
  last = { wall: nowUs(), cpu: cpuUs() };
  const [wall, cpu] = [last.wall - before.wall, last.cpu - before.cpu];
  if (Math.min(wall, cpu) < SHOWN_MS * 1000) return;
  unread.push({ fromUs: before.wall, toUs: last.wall, cpuUs: cpu });
}

/** Watches until `stop`, which returns the stalls of the server's code: wall time that was CPU time as well. */
export async function watchStalls(): Promise<{ stop(): Stall[] }> {
  // Incremented before the first await, so that another server's `stop` does not stop the profile.
  watches += 1;
  if (!profiling) {
    startProfile();
    // The profiler enumerates all loaded code in the next turns of the loop.
    await delay(3 * TICK_MS);
  }
  last = { wall: nowUs(), cpu: cpuUs() };
  const beginUs = last.wall;
  timer ??= setInterval(tick, TICK_MS).unref();
  let stopped: Stall[] | undefined;
  return {
    stop() {
      // `stop` is idempotent: a server may be closed twice.
      if (stopped) return stopped;
      tick();
      watches -= 1;
      if (unread.length > 0) readProfile();
      if (watches > 0) startProfile();
      else {
        clearInterval(timer);
        timer = undefined;
      }
      stopped = read.filter(({ atUs }) => atUs >= beginUs);
      return stopped;
    },
  };
}
