/** Peers, frames and streams in memory. */
import { frameText } from '#server/events/frame.ts';
import type { EventFrame, StreamPosition } from '#server/events/frame.ts';
import type { StreamSource } from '#server/events/stream-source.ts';
import type { Peer } from '#server/events/peer.ts';

export const EPOCH = 'ep_01';

export interface SentFrame {
  type: string;
  seq?: number;
  offset?: number;
  session_id?: string;
  id?: string | number;
  code?: number;
  msg?: string;
  payload: Record<string, unknown>;
}

export interface TestPeer extends Peer {
  readonly sent: SentFrame[];
  readonly texts: string[];
  readonly closes: { code: number; reason: string }[];
  /** While true, sent bytes stay unsent in the buffer. */
  stalled: boolean;
  paused: boolean;
  terminated: boolean;
  /** Removes this many unsent bytes; default: all. */
  drain(bytes?: number): void;
}

/** A peer that records what is sent to it. */
export function testPeer(): TestPeer {
  const sent: SentFrame[] = [];
  const texts: string[] = [];
  const closes: { code: number; reason: string }[] = [];
  let unsent = 0;
  const peer: TestPeer = {
    sent,
    texts,
    closes,
    stalled: false,
    paused: false,
    terminated: false,
    send(data) {
      const text = typeof data === 'string' ? data : Buffer.from(data).toString();
      texts.push(text);
      sent.push(JSON.parse(text));
      if (peer.stalled) unsent += data.length;
    },
    close: (code, reason) => void closes.push({ code, reason }),
    terminate: () => void (peer.terminated = true),
    bufferedAmount: () => unsent,
    pause: () => void (peer.paused = true),
    resume: () => void (peer.paused = false),
    drain: (bytes = unsent) => void (unsent -= bytes),
  };
  return peer;
}

interface FrameOptions {
  agent?: string;
  sessionId?: string;
  volatile?: boolean;
  offset?: number;
}

/** An event frame; default: session `s1`, main agent. */
export function frame(type: string, seq: number, fields: object = {}, options: FrameOptions = {}): EventFrame {
  const { agent = 'main', sessionId = 's1', volatile = false, offset } = options;
  const payload = { type, ...fields, agentId: agent, sessionId };
  const built: EventFrame = { type, seq, sessionId, time: 1_700_000_000_000 + seq, payload, epoch: EPOCH };
  if (volatile) built.volatile = true;
  if (offset !== undefined) built.offset = offset;
  return built;
}

/** A chunk of the main agent's text. */
export function delta(text: string, offset: number, seq = 1, options: FrameOptions = {}): EventFrame {
  return frame('assistant.delta', seq, { turnId: 0, delta: text }, { ...options, volatile: true, offset });
}

export interface TestStream {
  frames: EventFrame[];
  /** Whether the process has it open. */
  live: boolean;
}

/** Sessions whose durable events are arrays. */
export function testStreams(streams: Record<string, TestStream>) {
  const position = (id: string): StreamPosition => ({ seq: streams[id]?.frames.at(-1)?.seq ?? 0, epoch: EPOCH });
  const source: StreamSource = {
    exists: async (id) => Object.hasOwn(streams, id),
    position: async (id) => position(id),
    livePosition: (id) => (streams[id]?.live ? position(id) : undefined),
    async *replay(id, after, upTo) {
      for (const stored of streams[id]?.frames ?? []) {
        if (stored.seq <= after || stored.seq > upTo) continue;
        // Asynchronous, like reading a file.
        await new Promise((resolve) => setImmediate(resolve));
        yield frameText(stored);
      }
    },
  };
  return source;
}
