/** Events of a session that are sent more than once are delivered once. */
import { expect, it } from 'vitest';
import { createDeliveredEvents, type DeliveredEvents } from '../../../clients/run/delivered-events.ts';

const isNew = (events: DeliveredEvents, seq: number, epoch = 'a') => !events.isRepeated({ seq, epoch });

it('delivers events that precede one which arrived before the session was subscribed', () => {
  const events = createDeliveredEvents({ seq: 0 });
  expect(isNew(events, 3)).toBe(true);
  expect(events.cursor).toEqual({ seq: 0 });
  expect([1, 2, 3].map((seq) => isNew(events, seq))).toEqual([true, true, false]);
  events.reached({ seq: 3, epoch: 'a' });
  expect([3, 4].map((seq) => isNew(events, seq))).toEqual([false, true]);
  expect(events.cursor).toEqual({ seq: 4, epoch: 'a' });
});

it('delivers events once that arrive before the reply to the subscription is processed', () => {
  const events = createDeliveredEvents({ seq: 0 });
  isNew(events, 1);
  isNew(events, 2);
  events.reached({ seq: 1, epoch: 'a' });
  expect(events.cursor).toEqual({ seq: 2, epoch: 'a' });
});

it('delivers those of a new connection in the same way', () => {
  const events = createDeliveredEvents(undefined);
  events.reached({ seq: 5, epoch: 'a' });
  events.lost();
  expect([8, 6, 7, 8].map((seq) => isNew(events, seq))).toEqual([true, true, true, false]);
});

it('delivers those of another epoch, and all that have no place in the order', () => {
  const events = createDeliveredEvents({ seq: 5, epoch: 'a' });
  expect(isNew(events, 5)).toBe(false);
  expect(isNew(events, 5, 'b')).toBe(true);
  expect(events.isRepeated({ seq: 1, epoch: 'a', volatile: true })).toBe(false);
  expect(events.isRepeated({ seq: 1 })).toBe(false);
});
