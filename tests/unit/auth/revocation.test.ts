import { expect, it, onTestFinished, vi } from 'vitest';
import { createRevocation } from '#server/auth/revocation.ts';
import { createLogger } from '#server/logging/log.ts';
import { eventually } from '#support/patience.ts';

it('a rotation in the midst of a check ends no connection of the token before it', async () => {
  const judged: boolean[] = [];
  const { close } = await createRevocation({
    token: { current: async () => 'before', keepsConnections: async () => true },
    // They read the token again, after the rotation.
    credentials: { accepts: async (secret) => secret === 'after' },
    connections: {
      async endRefused(accepts) {
        judged.push(await accepts('before'), await accepts('an older one'));
      },
    },
    log: createLogger('silent'),
    checkMs: 1,
  });
  onTestFinished(close);
  await eventually(() => expect(judged.slice(0, 2)).toEqual([true, false]));
});

it('checks often enough that a connection ends within 5 s of a rotation, with as much time again for the check', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const inTime: (() => void)[] = [];
  let valid = 'before';
  const { close } = await createRevocation({
    token: { current: async () => valid, keepsConnections: async () => false },
    credentials: { accepts: async (secret) => secret === valid },
    connections: {
      async endRefused(accepts) {
        if (!(await accepts('before'))) inTime.shift()?.();
      },
    },
    log: createLogger('silent'),
  });
  onTestFinished(close);
  // Directly after a check.
  vi.advanceTimersByTime(2500);
  valid = 'after';
  const ended = new Promise<void>((resolve) => inTime.push(resolve));
  vi.advanceTimersByTime(2500);
  await ended;
});
