/**
 * A server of a home that installs plugins when its parent sends a message; started by several-servers.test.ts and
 * memory.test.ts.
 */
import { openPlugins } from './open-plugins.ts';

const [home = '', name = ''] = process.argv.slice(2);
const { plugins } = openPlugins(home, name);

/** Installs the sources in turn, `rounds` times. */
async function install(sources: string[], rounds: number): Promise<string> {
  for (let round = 0; round < rounds; round += 1) {
    for (const source of sources) await plugins.install(source);
  }
  return 'done';
}

/** Installs one source; the bytes by which the process grew meanwhile at most. */
async function measure(source: string): Promise<string> {
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 2);
  const { id } = await plugins.install(source);
  clearInterval(timer);
  return `${id} ${most - before}`;
}

interface Request {
  sources: string[];
  /** Default: one install, measured. */
  rounds?: number;
}

process.on('message', ({ sources, rounds }: Request) => {
  const work = rounds === undefined ? measure(sources[0] ?? '') : install(sources, rounds);
  work.then(
    (answer) => process.send?.(answer),
    (error: unknown) => process.send?.(`failed: ${String(error)}`),
  );
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
