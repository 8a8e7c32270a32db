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
  let valid = 'before';
  const judged: boolean[] = [];
  const { close } = await createRevocation({
    token: { current: async () => valid, keepsConnections: async () => false },
    credentials: { accepts: async (secret) => secret === valid },
    connections: { endRefused: async (accepts) => void judged.push(await accepts('before')) },
    log: createLogger('silent'),
  });
  onTestFinished(close);
  // A rotation directly after a check waits longest for the next one.
  while (judged.length === 0) await vi.advanceTimersByTimeAsync(1);
  valid = 'after';
  await vi.advanceTimersByTimeAsync(2500);
  expect(judged).toEqual([true, false]);
});
