/** A client that follows a session's transcripts across reconnects and stores what it received. */
import { expect } from 'vitest';
import { transcriptPageSchema } from '#schema/rest/transcript.ts';
import {
  transcriptOpsFrame,
  transcriptResetFrame,
  type TranscriptBatch,
  type TranscriptReset,
} from '#schema/frames/transcript-updates.ts';
import { transcriptOpsSchema } from '#schema/rest/transcript-ops.ts';
import { createTranscriptFeed, type TranscriptFeed } from '#server/transcript/client/feed.ts';
import type { World } from './world.ts';
import { connect, type ReceivedFrame, type WsClient } from './ws-client.ts';

export type TranscriptFrame = TranscriptReset | TranscriptBatch;

/** The payload if the frame is a transcript frame of the session. */
export function transcriptFrame(frame: ReceivedFrame, sessionId: string): TranscriptFrame | undefined {
  if (frame.session_id !== sessionId) return undefined;
  if (frame.type === 'transcript.reset') return transcriptResetFrame.payload.parse(frame.payload);
  return frame.type === 'transcript.ops' ? transcriptOpsFrame.payload.parse(frame.payload) : undefined;
}

/** All transcript frames of a session received over a connection. */
export const transcriptFrames = (client: WsClient, sessionId: string): TranscriptFrame[] =>
  client.frames.flatMap((frame) => transcriptFrame(frame, sessionId) ?? []);

export const pageOf = async (
  world: World,
  id: string,
  agentId = 'main',
  query: Record<string, string | number> = {},
) => {
  const text = new URLSearchParams({ agent_id: agentId });
  for (const [name, value] of Object.entries(query)) text.set(name, String(value));
  return transcriptPageSchema.parse(await world.ok('GET', `/sessions/${id}/transcript?${text.toString()}`));
};

export const opsOf = async (world: World, id: string, since: number, agentId = 'main') =>
  transcriptOpsSchema.parse(
    await world.ok('GET', `/sessions/${id}/transcript/ops?agent_id=${agentId}&since_seq=${since}`),
  );

export interface TranscriptFollowing {
  readonly feed: TranscriptFeed;
  /** The current connection. */
  readonly client: WsClient;
  /** Collected failures; empty if all went well. */
  readonly failures: unknown[];
  /** Replaces the current connection with a new one. */
  reconnect(): Promise<void>;
  /** Resolves when the agent's state contains batch `seq`; default: the last one that exists now. */
  caughtUp(agentId?: string, seq?: number): Promise<void>;
  close(): Promise<void>;
}

/** Connects; subscribes to no agent yet. */
export async function followTranscripts(world: World, sessionId: string, pageSize = 5): Promise<TranscriptFollowing> {
  const failures: unknown[] = [];
  let client = await open();
  const feed = createTranscriptFeed({
    sessionId,
    link: {
      page: (agentId, query) => pageOf(world, sessionId, agentId, query),
      ops: (agentId, since) => opsOf(world, sessionId, since, agentId),
      async subscribe(payload) {
        const ack = await client.send({ type: 'subscribe_v2', payload });
        if (ack.code !== 0) throw new Error(ack.msg);
      },
    },
    listener: { changed: () => undefined, failed: (error) => failures.push(error) },
    pageSize,
  });

  async function open(): Promise<WsClient> {
    const opened = await connect(world.server);
    opened.onFrame((frame) => {
      const payload = transcriptFrame(frame, sessionId);
      if (payload) feed.frame(payload);
      if (frame.type === 'resync_required') void feed.resync();
    });
    return opened;
  }

  return {
    feed,
    get client() {
      return client;
    },
    failures,
    async reconnect() {
      await client.close();
      client = await open();
      await feed.connected();
    },
    async caughtUp(agentId = 'main', seq = undefined) {
      const wanted = seq ?? (await pageOf(world, sessionId, agentId, { page_size: 1 })).seq ?? 0;
      await expect
        .poll(() => feed.settled(agentId) && (feed.mark(agentId) ?? -1) >= wanted, { interval: 2 })
        .toBe(true);
    },
    async close() {
      feed.close();
      await client.close();
      expect(failures).toEqual([]);
    },
  };
}
