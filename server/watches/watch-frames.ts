/** WebSocket frames of file watches. */
import { defineFrame } from '#server/events/frame-handler.ts';
import type { FrameHandler } from '#server/events/frame-handler.ts';
import { watchAddFrame, watchRemoveFrame } from '#schema/frames/watches.ts';
import type { Watches } from './watches.ts';

const refusal = { watched_paths: [], current_count: 0 } as const;

/** Creates the handlers of the frames. */
export const watchFrames = (watches: Pick<Watches, 'add' | 'remove'>): FrameHandler[] => [
  defineFrame(watchAddFrame, {
    refusal: { ...refusal, watched_paths: [] },
    handle: watches.add,
  }),
  defineFrame(watchRemoveFrame, {
    refusal: { ...refusal, watched_paths: [] },
    handle: watches.remove,
  }),
];
