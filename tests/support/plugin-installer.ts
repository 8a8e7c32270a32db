/**
 * A server of a home that installs plugins when its parent sends a message; started by plugin-kills.test.ts and
 * plugin-memory.test.ts.
 */
import { openPlugins } from './open-plugins.ts';

const [home = '', name = ''] = process.argv.slice(2);
const { plugins } = openPlugins(home, name);

/** Installs the sources in turn until the process is killed, and reports each install. */
async function installForever(sources: string[]): Promise<string> {
  for (;;) {
    for (const source of sources) {
      await plugins.install(source);
      process.send?.('installed');
    }
  }
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
  /** A single one is installed once and measured. */
  sources: string[];
}

process.on('message', ({ sources }: Request) => {
  const [only = ''] = sources;
  const work = sources.length === 1 ? measure(only) : installForever(sources);
  work.then(
    (answer) => process.send?.(answer),
    (error: unknown) => process.send?.(`failed: ${String(error)}`),
  );
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
