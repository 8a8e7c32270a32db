/** Builds the event frame that clients receive for a numbered record. */
import type { EventFrame } from '#server/events/frame.ts';
import type { SentRecord } from './line-reader.ts';
import { blobTexts, type Whole } from './texts.ts';

/** Bytes of the JSON of `messages`; the frame of a longer `context.spliced` omits them. */
export const SPLICE_FRAME_LIMIT_BYTES = 65_536;

/** Created by the transport, not by the agent: without `time`. */
const untimed = new Set(['agent.created', 'agent.disposed', 'session.meta.updated']);

export interface StreamIdentity {
  sessionId: string;
  epoch: string;
}

/** A splice without its messages, whose frame is truncated regardless of their texts. */
type Cut = Omit<Splice, 'messages'> & { messages: undefined };
type Splice = SentRecord & { type: 'context.spliced' };

/** Whether the frame of a splice is truncated regardless of its texts. */
export function isSurelyCut({ messages, x }: Pick<Splice, 'messages' | 'x'>): boolean {
  const bytes = blobTexts(messages).reduce((sum, text) => sum + text.bytes, 0);
  return x?.copyOf !== undefined || bytes > SPLICE_FRAME_LIMIT_BYTES;
}

/** The part of a record that its frame needs; a surely truncated splice has no messages, so none is loaded. */
export function sendable(record: SentRecord): SentRecord | Cut {
  return record.type === 'context.spliced' && isSurelyCut(record) ? { ...record, messages: undefined } : record;
}

/**
 * The frame of a record with its texts. Pure, so a replayed frame equals the first one byte for byte. `surelyShort`
 * skips the measuring of a splice that cannot exceed the limit.
 */
export function recordFrame(
  record: Whole<SentRecord | Cut>,
  t: number,
  stream: StreamIdentity,
  surelyShort = false,
): EventFrame {
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
      ...(record.type === 'context.spliced' ? spliceFields(record, surelyShort) : fields),
      agentId: agent,
      sessionId: stream.sessionId,
    },
    epoch: stream.epoch,
  };
}

function spliceFields(
  { start, deleteCount, messages, tokens }: Whole<Splice | Cut>,
  surelyShort: boolean,
): Record<string, unknown> {
  const whole = messages && (surelyShort || Buffer.byteLength(JSON.stringify(messages)) <= SPLICE_FRAME_LIMIT_BYTES);
  return whole
    ? { start, deleteCount, messages, tokens }
    : { start, deleteCount, messages: [], tokens, truncated: true };
}
