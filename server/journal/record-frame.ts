/** The event frame that clients get for a numbered record (records.md §1.4, §1.9). */
import type { EventFrame } from '#server/events/frame.ts';
import type { SentRecord } from './line-reader.ts';
import type { JournalRecord } from './records.ts';

/** Bytes of the JSON of `messages`; a `context.spliced` above it goes out without them (ws-events.md §9.9). */
export const SPLICE_FRAME_LIMIT_BYTES = 65_536;

/** Made by the transport, not by the engine: without `time` (ws-events.md §2.3). */
const untimed = new Set(['agent.created', 'agent.disposed', 'session.meta.updated']);

export interface StreamIdentity {
  sessionId: string;
  epoch: string;
}

/** Pure, so a replayed frame equals, byte for byte, the one sent first. Reads blobs. */
export function recordFrame(record: SentRecord, t: number, stream: StreamIdentity): EventFrame {
  const { seq, agent, type, ...rest } = record;
  const { x: _x, ...fields } = 'x' in rest ? rest : { ...rest, x: undefined };
  return {
    type,
    seq,
    sessionId: stream.sessionId,
    time: t,
    payload: {
      type,
      ...(untimed.has(type) || type.startsWith('event.') ? {} : { time: t }),
      ...(record.type === 'context.spliced' ? spliceFields(record) : fields),
      agentId: agent,
      sessionId: stream.sessionId,
    },
    epoch: stream.epoch,
  };
}

function spliceFields(record: Extract<JournalRecord, { type: 'context.spliced' }>): Record<string, unknown> {
  const { start, deleteCount, messages, tokens, x } = record;
  const cut = x?.copyOf !== undefined || Buffer.byteLength(JSON.stringify(messages)) > SPLICE_FRAME_LIMIT_BYTES;
  return cut ? { start, deleteCount, messages: [], tokens, truncated: true } : { start, deleteCount, messages, tokens };
}
