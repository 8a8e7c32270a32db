/** Attachments: media that enter a turn. */
import type { Attachment } from '#server/journal/records.ts';
import type { Stored } from '#server/journal/texts.ts';
import type { AgentTranscript } from '../agent-transcript.ts';
import type { StoredOp } from '../reducer/state.ts';

/** Assigns ids, which are numbered across the turn. */
export function attached(agent: AgentTranscript, turnId: string, media: readonly Stored<Attachment>[]) {
  const attachments = media.map((one) => {
    agent.attachments += 1;
    return { attachmentId: `${turnId}.att${agent.attachments}`, ...one };
  });
  const ops = attachments.map((attachment): StoredOp => ({ op: 'attachment.upsert', attachment }));
  return { ops, ids: attachments.map(({ attachmentId }) => attachmentId) };
}
