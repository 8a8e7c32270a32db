import { expect, it } from 'vitest';
import { createLogger } from '#server/logging/log.ts';
import { createFirstSyncs } from '#server/sessions/live/first-syncs.ts';
import { manualClock } from '#support/manual-clock.ts';
import { eventually } from '#support/patience.ts';

function setUp() {
  const clock = manualClock();
  const synced: string[] = [];
  const logged: string[] = [];
  const files = {
    async sync(dir: string) {
      synced.push(dir);
      if (dir === 'gone') throw new Error('ENOENT');
    },
  };
  const log = createLogger('warn', (line) => void logged.push(line));
  return { clock, synced, logged, syncs: createFirstSyncs({ files, clock, log }) };
}

it('new journals are synced together five seconds after the first of them', async () => {
  const { clock, synced, logged, syncs } = setUp();
  syncs.add('a');
  clock.advance(4000);
  syncs.add('gone');
  syncs.add('b');
  clock.advance(999);
  await Promise.resolve();
  expect(synced).toEqual([]);
  clock.advance(1);
  await eventually(() => expect(synced).toEqual(['a', 'gone', 'b']));
  expect(logged).toEqual([expect.stringContaining('could not be synced')]);
  syncs.add('c');
  clock.advance(5000);
  await eventually(() => expect(synced.at(-1)).toBe('c'));
});

it('closing syncs the pending ones', async () => {
  const { synced, syncs } = setUp();
  syncs.add('a');
  await syncs.close();
  expect(synced).toEqual(['a']);
});
