/** Which durable events of a session were delivered: on a new connection the server sends some of them again. */
import type { EventFrame } from '@service-code/client';

export interface Cursor {
  seq: number;
  epoch?: string;
}

export interface DeliveredEvents {
  /** All events up to it were delivered; undefined before the first subscription. */
  readonly cursor: Cursor | undefined;
  /** Whether the event was delivered before. The others count as delivered from then on. */
  isRepeated(event: Pick<EventFrame, 'seq' | 'epoch' | 'volatile'>): boolean;
  /** Earlier events were delivered, or are never sent; later ones arrive in order. */
  reached(cursor: Cursor): void;
  /** The connection was lost: until the next `reached` events may arrive before earlier ones. */
  lost(): void;
}

/** `start`: from where events are read. */
export function createDeliveredEvents(start: Cursor | undefined): DeliveredEvents {
  let cursor = start;
  /** Global events are sent before the session is subscribed, and a second time in their place. */
  const early = new Set<number>();
  let isInOrder = false;

  return {
    get cursor() {
      return cursor;
    },
    isRepeated({ seq, epoch, volatile }) {
      if (epoch === undefined || volatile === true) return false;
      if (cursor && seq <= cursor.seq && (cursor.epoch ?? epoch) === epoch) return true;
      if (isInOrder) {
        cursor = { seq, epoch };
        return false;
      }
      if (early.has(seq)) return true;
      early.add(seq);
      return false;
    },
    reached(next) {
      cursor = { ...next, seq: Math.max(next.seq, ...early) };
      early.clear();
      isInOrder = true;
    },
    lost() {
      isInOrder = false;
    },
  };
}
