import { expect, it, onTestFinished } from 'vitest';
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
