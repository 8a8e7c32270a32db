import { expect, it } from 'vitest';
import { ServiceError } from '#server/errors/service-error.ts';
import { createBatchActions } from '#server/sessions/requests/batch-actions.ts';
import { eventually } from '#support/patience.ts';

/** Actions that wait until they are ended. */
function heldActions() {
  const running: (() => void)[] = [];
  let most = 0;
  const act = (id: string) =>
    new Promise<void>((resolve, reject) => {
      running.push(() => {
        if (id === 'missing') reject(new ServiceError('session.not_found', 'session missing does not exist'));
        else resolve();
      });
      most = Math.max(most, running.length);
    });
  return {
    actions: { archive: (id: string) => act(id).then(() => ({ archived: true as const })), unarchive: act },
    running,
    most: () => most,
  };
}

it.each(['archiveMany', 'restoreMany'] as const)(
  '%s works on 8 sessions at a time, once all are indexed',
  async (name) => {
    const { actions, running, most } = heldActions();
    let setIndexed = () => {};
    const indexed = new Promise<void>((resolve) => (setIndexed = resolve));
    const batch = createBatchActions({ actions, ready: () => indexed });
    const ids = Array.from({ length: 18 }, (_, place) => (place === 12 ? 'missing' : `s${place}`));
    const result = batch[name](ids);
    await new Promise((resolve) => setImmediate(resolve));
    expect(running).toHaveLength(0);
    setIndexed();
    await eventually(() => expect(running).toHaveLength(8));
    for (let ended = 0; ended < ids.length; ended += 1) {
      await eventually(() => expect(running).not.toHaveLength(0));
      running.shift()?.();
    }
    expect(most()).toBe(8);
    const { results, succeeded, failed } = await result;
    expect(results.map(({ id }) => id)).toEqual(ids);
    expect([succeeded, failed]).toEqual([17, 1]);
  },
);
