/** Compares a client's cursor with a stream's position. */
import type { Cursor } from '#schema/frames/subscriptions.ts';
import type { StreamPosition } from './frame.ts';

/** The most durable events that are replayed to a client; one with an older cursor reads the snapshot. */
export const REPLAY_WINDOW_EVENTS = 1000;

export type CursorDecision = 'current' | 'replay' | 'epoch_changed' | 'buffer_overflow';

/** Decides between replay and resynchronisation. A missing or empty epoch skips the comparison of epochs. */
export function decideCursor(cursor: Cursor, position: StreamPosition): CursorDecision {
  if (cursor.epoch && cursor.epoch !== position.epoch) return 'epoch_changed';
  if (cursor.seq > position.seq) return 'epoch_changed';
  if (cursor.seq === position.seq) return 'current';
  return position.seq - cursor.seq > REPLAY_WINDOW_EVENTS ? 'buffer_overflow' : 'replay';
}
