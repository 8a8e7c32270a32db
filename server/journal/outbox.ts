/** Publishes frames in the order of the calls, including calls from inside a publish. */
import type { EventFrame, EventSink } from '#server/events/frame.ts';

export interface Outbox {
  /** Publishes the frames: immediately, or after those that are being published. */
  publish(frames: EventFrame[]): void;
}

/** `failed` receives exceptions of listeners, which must not stop the journal. */
export function createOutbox(sink: EventSink, failed: (error: unknown) => void): Outbox {
  let waiting: EventFrame[] = [];
  let publishing = false;

  function hand(frame: EventFrame): void {
    try {
      sink.publish(frame);
    } catch (error) {
      failed(error);
    }
  }

  return {
    publish(frames) {
      waiting.push(...frames);
      if (publishing) return;
      publishing = true;
      for (const frame of waiting) hand(frame);
      waiting = [];
      publishing = false;
    },
  };
}
