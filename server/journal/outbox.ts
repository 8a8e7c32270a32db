/** Frames go out in the order of the calls, also of those that come from inside a publish. */
import type { EventFrame, EventSink } from '#server/events/frame.ts';

export interface Outbox {
  /** Hands the frames over, at once unless others are going out: then behind them. */
  publish(frames: EventFrame[]): void;
}

/** `failed` gets what a listener throws: a listener's mistake must not stop the journal. */
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
