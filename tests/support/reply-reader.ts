/** Reads replies of the address that it receives, and reports by how many bytes that made the process grow. */
import { readFileSync } from 'node:fs';
import { loadUndici } from '#server/net/load-undici.ts';

const REPLIES = 10;

async function growth(url: string): Promise<number> {
  const { request } = await loadUndici();
  const before = process.memoryUsage.rss();
  for (let reply = 0; reply < REPLIES; reply += 1) {
    const { body } = await request(url);
    await body.dump({ limit: Infinity });
  }
  // The process inherits the `maxRSS` of its parent.
  const [, most] = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(most) * 1024 - before;
}

process.on('message', (url) => {
  growth(String(url)).then(
    (bytes) => process.send?.(bytes),
    (error: unknown) => process.send?.(String(error)),
  );
});
process.on('disconnect', () => process.exit());
