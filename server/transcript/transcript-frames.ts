/** Request frames of transcripts on the WebSocket. */
import { defineFrame, type FrameHandler } from '#server/events/frame-handler.ts';
import { subscribeV2Frame, unsubscribeV2Frame } from '#schema/frames/transcripts.ts';
import type { TranscriptFollowers } from './following/followers.ts';

/** The handlers of the transcripts' request frames. */
export const transcriptFrames = (followers: Pick<TranscriptFollowers, 'follow' | 'unfollow'>): FrameHandler[] => [
  defineFrame(subscribeV2Frame, {
    atLength: true,
    async handle(payload, client) {
      const { session_id: id } = payload;
      const position = await followers.follow(client, payload);
      if (!position) return { accepted: [], not_found: [id], resync_required: [], cursors: {} };
      return { accepted: [id], not_found: [], resync_required: [], cursors: { [id]: position } };
    },
  }),
  defineFrame(unsubscribeV2Frame, {
    handle(payload, client) {
      followers.unfollow(client, payload);
      return { accepted: [payload.session_id], not_found: [], resync_required: [] };
    },
  }),
];
