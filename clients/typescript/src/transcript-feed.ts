/** The transcripts of one session, followed over the client's REST calls and socket. */
import { createTranscriptFeed } from '../../../server/transcript/client/feed.ts';
import { ApiError, ConnectionError } from './errors.ts';
import { withOutput } from './live-output.ts';
import type { Rest } from './rest.ts';
import type { Socket } from './socket.ts';
import type { Grade, ServerFrames } from './frames.ts';
import type { TranscriptState } from './transcript.ts';
import { MAIN_AGENT } from './types.ts';

/** Delay before a failed request is retried while the connection stays open. */
const RETRY_MS = 1000;
const PAGE_SIZE = 30;

export interface TranscriptListener {
  /** Called after each change of an agent's transcript. */
  changed(agentId: string): void;
  /** Called when the session cannot be followed: unknown, unreadable, not authorized. */
  failed(error: Error): void;
  /** Called when events may have been missed: after the session is subscribed on a connection, and after a resync. */
  eventsMissed?(): void;
}

export interface TranscriptFollower {
  /** By agent; each is mutated in place. */
  readonly agents: ReadonlyMap<string, TranscriptState>;
  /** Follows an agent in detail until the returned function is called; of agents other than main only turns arrive. */
  open(agentId: string): () => void;
  /** Reads older turns of an agent. */
  loadOlder(agentId: string): Promise<void>;
  close(): void;
}

/** Follows a session until `close()`. */
export function followTranscripts(
  id: string,
  rest: Rest,
  socket: Socket,
  listener: TranscriptListener,
): TranscriptFollower {
  const agents = new Map<string, TranscriptState>();
  /** By agent, the number of callers that have it open. */
  const opened = new Map<string, number>();
  let retry: ReturnType<typeof setTimeout> | undefined;
  let following = false;
  /** Whether the present connection has a subscription. */
  let subscribed = false;

  const feed = createTranscriptFeed({
    sessionId: id,
    pageSize: PAGE_SIZE,
    shape: withOutput,
    link: {
      page: (agent_id, query) => rest.transcript(id, { agent_id, ...query }),
      ops: (agent_id, since_seq) => rest.transcriptOps(id, { agent_id, since_seq }),
      async subscribe(payload) {
        const { not_found } = await socket.request('subscribe_v2', payload);
        if (not_found.includes(id)) throw new ApiError(40401, `session ${id} does not exist`, { status: 200 });
        if (subscribed) return;
        subscribed = true;
        listener.eventsMissed?.();
      },
    },
    listener: {
      changed(agentId, state) {
        agents.set(agentId, state);
        listener.changed(agentId);
      },
      failed,
    },
  });

  function failed(error: unknown) {
    if (!(error instanceof ConnectionError)) {
      return listener.failed(error instanceof Error ? error : new Error(String(error)));
    }
    // A broken connection is reopened automatically and needs no retry here.
    clearTimeout(retry);
    retry = setTimeout(() => socket.connection.kind === 'open' && void connect(), RETRY_MS);
  }

  function follow() {
    const grades: Record<string, Grade> = { '*': 'turn', [MAIN_AGENT]: 'delta' };
    for (const agentId of opened.keys()) grades[agentId] = 'delta';
    return feed.follow(grades);
  }

  async function connect() {
    if (!following) {
      following = true;
      return follow();
    }
    await feed.connected();
    await missed();
  }

  /** Reads what was missed: no frame reports changes of a session that has not been loaded since. */
  async function missed() {
    const mark = feed.mark(MAIN_AGENT);
    if (mark === undefined) return feed.resync();
    try {
      const { complete } = await rest.transcriptOps(id, { agent_id: MAIN_AGENT, since_seq: mark });
      if (!complete) await feed.resync();
    } catch (error) {
      failed(error);
    }
  }

  const apply = (frame: ServerFrames['transcript.reset' | 'transcript.ops']) => {
    if (frame.session_id === id) feed.frame(frame.payload);
  };
  const stops = [
    socket.onConnection((state) => {
      subscribed = false;
      if (state.kind === 'open') void connect();
    }),
    socket.on('transcript.reset', apply),
    socket.on('transcript.ops', apply),
    socket.on('resync_required', ({ payload }) => {
      if (payload.session_id !== id) return;
      void feed.resync();
      listener.eventsMissed?.();
    }),
  ];
  if (socket.connection.kind === 'open') void connect();

  return {
    agents,
    open(agentId) {
      opened.set(agentId, (opened.get(agentId) ?? 0) + 1);
      if (following) void follow();
      return () => {
        const left = (opened.get(agentId) ?? 0) - 1;
        if (left > 0) return void opened.set(agentId, left);
        opened.delete(agentId);
        void follow();
      };
    },
    async loadOlder(agentId) {
      try {
        await feed.older(agentId);
      } catch (error) {
        if (!(error instanceof ConnectionError)) failed(error);
      }
    },
    close() {
      clearTimeout(retry);
      for (const stop of stops) stop();
      feed.close();
      if (socket.connection.kind !== 'open') return;
      // The server drops the subscription with the connection, so a failed request can be ignored.
      socket.request('unsubscribe', { session_ids: [id] }).catch(() => {});
    },
  };
}
