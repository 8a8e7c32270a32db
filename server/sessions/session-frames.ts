/** Request frames about sessions. */
import { defineFrame } from '#server/events/frame-handler.ts';
import type { FrameHandler } from '#server/events/frame-handler.ts';
import { abortFrame } from '#schema/prompt-frames.ts';
import type { Sessions } from './sessions.ts';

/** The handlers of the sessions' request frames. */
export const sessionFrames = (sessions: Pick<Sessions, 'abort'>): FrameHandler[] => [
  defineFrame(abortFrame, {
    // An abort must not wait for earlier requests.
    lane: 'control',
    handle: ({ session_id, prompt_id }) => sessions.abort(session_id, prompt_id),
  }),
];
