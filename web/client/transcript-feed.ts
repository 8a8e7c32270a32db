/** The transcripts of one session, kept up. */
import { applyOps } from '#server/transcript/reducer/apply.ts';
import { emptyTranscript, itemId } from '#server/transcript/reducer/state.ts';
import { ConnectionError } from './errors.ts';
import type { Rest } from './rest.ts';
import type { Socket } from './socket.ts';
import { MAIN_AGENT, type TranscriptState } from './types.ts';

export interface TranscriptListener {
  /** Something in a transcript is other than before. */
  changed(): void;
  failed(error: Error): void;
}

export interface TranscriptFeed {
  /** By agent. */
  readonly agents: ReadonlyMap<string, TranscriptState>;
  /** Follows all of an agent until the returned function is called; of others than main only turns are told. */
  open(agentId: string): () => void;
  /** Reads older turns of an agent. */
  loadOlder(agentId: string): Promise<void>;
  close(): void;
}

const POLL_MS = 150;

/** Follows a session until `close()`. */
export function followTranscripts(
  id: string,
  rest: Rest,
  _socket: Socket,
  listener: TranscriptListener,
): TranscriptFeed {
  const agents = new Map<string, TranscriptState>();
  const marks = new Map<string, number>();
  const opened = new Map<string, number>([[MAIN_AGENT, 1]]);
  let closed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function attach(agentId: string) {
    const page = await rest.transcript(id, { agent_id: agentId });
    if (closed) return;
    const { items, has_more, tasks, interactions, attachments, todos, prompts, meta, seq } = page;
    const state = agents.get(agentId) ?? emptyTranscript();
    const snapshot = { items, tasks, interactions, attachments, todos, prompts, meta, hasMoreOlder: has_more };
    applyOps(state, [{ op: 'reset', agentId, snapshot }]);
    agents.set(agentId, state);
    if (seq === undefined) marks.delete(agentId);
    else marks.set(agentId, seq);
    listener.changed();
    if (agentId === MAIN_AGENT)
      for (const other of page.agents) opened.set(other.agentId, opened.get(other.agentId) ?? 1);
  }

  async function poll(agentId: string) {
    const mark = marks.get(agentId);
    if (mark === undefined) return attach(agentId);
    const { batches, complete, latest_seq } = await rest.transcriptOps(id, { agent_id: agentId, since_seq: mark });
    const state = agents.get(agentId);
    if (!complete || !state) return attach(agentId);
    for (const { ops } of batches) applyOps(state, ops);
    marks.set(agentId, latest_seq);
    if (batches.length) listener.changed();
  }

  async function loop() {
    try {
      for (const agentId of opened.keys()) await poll(agentId);
      await attachRoster();
    } catch (error) {
      if (!(error instanceof ConnectionError)) return listener.failed(error as Error);
    }
    if (!closed) timer = setTimeout(loop, POLL_MS);
  }
  async function attachRoster() {
    for (const { agentId } of agents.get(MAIN_AGENT)?.tasks.values() ?? [])
      if (agentId && !opened.has(agentId)) opened.set(agentId, 1);
  }
  void loop();

  return {
    agents,
    open: () => () => {},
    async loadOlder(agentId) {
      const state = agents.get(agentId);
      const first = state?.items.find((item) => item.kind === 'turn');
      if (!state?.hasMoreOlder || first?.kind !== 'turn') return;
      const page = await rest.transcript(id, { agent_id: agentId, before_turn: first.turnId, page_size: 50 });
      const fresh = page.items.filter((item) => !state.byId.has(itemId(item)));
      state.items.unshift(...fresh);
      for (const item of fresh) state.byId.set(itemId(item), item);
      state.hasMoreOlder = page.has_more;
      listener.changed();
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
