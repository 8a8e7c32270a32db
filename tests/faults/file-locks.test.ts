/** The built server on a system that grants no file locks, such as a network file system without its lock service. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { indexSchema } from '#server/sessions/index/session-header.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { eventually } from '#support/patience.ts';
import { straceMissing, withFault } from './strace.ts';

/** Half of the time for which SQLite retries a lock of its write-ahead log. */
const IMMEDIATELY_MS = 5_000;

const built = useBuiltServer();
const index = `index-v${indexSchema.version}.db`;

async function codeAndTime(path: string): Promise<{ answer: unknown; ms: number }> {
  const begun = performance.now();
  const response = await built.server.fetch(`/api/v1${path}`);
  const { code, msg }: { code?: unknown; msg?: unknown } = Object(await response.json());
  return { answer: { code, msg }, ms: performance.now() - begun };
}

describe.skipIf(straceMissing() !== undefined)(
  'lists answer persistence.failure, other requests work, and both immediately',
  () => {
    it.each(['has just started', 'has listed sessions before'])('of a server that %s', async (state) => {
      const session = await built.newSession();
      await built.restart('SIGTERM');
      if (state === 'has listed sessions before') await built.ok('GET', '/sessions');
      const names = ['index-locks', index, `${index}-shm`, `${index}-wal`];
      const paths = names.map((name) => join(built.base.home, 'cache', name));
      const fault = { syscall: 'fcntl', error: 'ENOLCK', paths };
      const calls = await withFault(built.server.process, fault, async () => {
        for (let round = 0; round < 3; round += 1) {
          const [list, health] = await Promise.all([codeAndTime('/sessions'), codeAndTime('/healthz')]);
          expect(list.answer).toMatchObject({ code: 50003 });
          expect(health.answer).toMatchObject({ code: 0 });
          for (const { ms } of [list, health]) expect(ms).toBeLessThan(IMMEDIATELY_MS);
        }
      });
      expect(calls.length).toBeGreaterThan(0);
      // The lock is retried without a request.
      await eventually(async () => {
        expect(await built.server.api('GET', '/sessions')).toMatchObject({
          code: 0,
          data: { items: [{ id: session }] },
        });
      });
    });
  },
);
