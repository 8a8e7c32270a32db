/**
 * Client-side replica of one session's transcripts: the state of each followed agent, kept up to date over a socket
 * without gaps or duplicates. Independent of DOM, frameworks and Node.
 *
 * const at = `sessions/${id}/transcript`;
 * const feed = createTranscriptFeed({
 * sessionId: id,
 * link: {
 * page: (agent_id, query) => rest.request('GET', at, { query: { agent_id, ...query } }),
 * ops: (agent_id, since_seq) => rest.request('GET', `${at}/ops`, { query: { agent_id, since_seq } }),
 * subscribe: (payload) => socket.request('subscribe_v2', payload),
 * },
 * listener: { changed: (agentId, state) => render(agentId, state), failed: (error) => show(error) },
 * });
 * await feed.follow({ '*': 'turn', main: 'delta' });
 *
 * The owner of the socket forwards its frames: each `transcript.reset` and `transcript.ops` of the session to `frame`,
 * a `resync_required` of it to `resync`, and each new socket, after it has opened, to `connected`. `older` pages back.
 * To open a subagent, follow again with a higher grade for it; to close it, with a lower one. A state is mutated; the
 * parts that change (a turn's header, a step's, a frame, an entity) are replaced.
 */
import type { Grade } from '#schema/frames/transcripts.ts';
import type { TranscriptPage } from '#schema/rest/transcript.ts';
import type { TranscriptBatch, TranscriptReset } from '#schema/frames/transcript-updates.ts';
import type { TranscriptOps } from '#schema/rest/transcript-ops.ts';
import { applyOps } from '../reducer/apply.ts';
import { emptyTranscript, prependItems, type TranscriptState } from '../reducer/state.ts';

export interface TranscriptLink {
  /** Newest turns first; oldest of the page first. */
  page(agentId: string, query: { before_turn?: string; page_size: number }): Promise<TranscriptPage>;
  /** The batches after a number. */
  ops(agentId: string, since: number): Promise<TranscriptOps>;
  /** Resolves with the ack. */
  subscribe(payload: SubscribePayload): Promise<unknown>;
}

export interface SubscribePayload {
  session_id: string;
  transcript: Record<string, Grade>;
  transcript_since?: Record<string, number>;
}

export interface TranscriptListener {
  /** Called once per batch that changed the state. */
  changed(agentId: string, state: TranscriptState): void;
  /** Lost data could not be read. The next `connected`, `resync` or `follow` retries. */
  failed(error: unknown): void;
}

export interface TranscriptFeedOptions {
  sessionId: string;
  link: TranscriptLink;
  listener: TranscriptListener;
  /** Turns of one page. */
  pageSize?: number;
  /** Selects the operations of a batch that are applied to a state; default: all. */
  shape?(state: TranscriptState, ops: TranscriptBatch['ops']): TranscriptBatch['ops'];
}

export interface TranscriptFeed {
  /** Follows these agents from now on; `*` represents all agents not named. Each named agent is read first. */
  follow(grades: Readonly<Record<string, Grade>>): Promise<void>;
  /** The cached state of an agent; undefined before the first read. */
  state(agentId: string): TranscriptState | undefined;
  /** Number of the last batch in that state; undefined without one. */
  mark(agentId: string): number | undefined;
  /** Whether a state is up to date as far as the client knows: no read of it is pending. */
  settled(agentId: string): boolean;
  /** Reads a page of older turns and inserts it before the existing ones. */
  older(agentId: string): Promise<void>;
  /** Accepts the payload of a transcript frame of the session. */
  frame(payload: TranscriptReset | TranscriptBatch): void;
  /** Frames were lost: reads all followed agents again. */
  resync(): Promise<void>;
  /** A new socket is open: resumes from where the old one closed. */
  connected(): Promise<void>;
  /** Deletes all states. */
  close(): void;
}

interface Copy {
  state: TranscriptState;
  mark: number | undefined;
  /** Frames that wait for a running read. */
  held: (TranscriptReset | TranscriptBatch)[] | undefined;
  /** Whether its batches have a gap, so that only a page repairs it. */
  damaged: boolean;
  /** Incremented by each change that makes a requested page of older turns stale. */
  cuts: number;
}

const PAGE_SIZE = 20;
/** Attempts to read one page of older turns while turns are being removed. */
const OLDER_TRIES = 5;

const newCopy = (): Copy => ({
  state: emptyTranscript(),
  mark: undefined,
  held: undefined,
  damaged: true,
  cuts: 0,
});

/** Creates a feed that follows nothing yet. */
export function createTranscriptFeed(options: TranscriptFeedOptions): TranscriptFeed {
  const { sessionId, link, listener, pageSize = PAGE_SIZE, shape = (_, ops) => ops } = options;
  const copies = new Map<string, Copy>();
  /** Agents with lost frames. */
  const lost = new Set<string>();
  let grades: Record<string, Grade> = {};
  let work: Promise<void> = Promise.resolve();
  let closed = false;

  const gradeOf = (agentId: string): Grade => grades[agentId] ?? grades['*'] ?? 'off';

  /** Runs jobs serially; frames lost during a job are recovered by a later one. */
  function next(job: () => Promise<void>): Promise<void> {
    work = work.then(async () => {
      if (closed) return;
      try {
        await job();
      } catch (error) {
        if (!closed) listener.failed(error);
      }
    });
    return work;
  }

  function reportChange(agentId: string, copy: Copy): void {
    if (!closed) listener.changed(agentId, copy.state);
  }

  function applyBatch(agentId: string, copy: Copy, ops: TranscriptBatch['ops']): void {
    const { changed, gap } = applyOps(copy.state, shape(copy.state, ops));
    if (changed) reportChange(agentId, copy);
    if (!gap) return;
    copy.damaged = true;
    lose(agentId, copy);
  }

  function take(agentId: string, copy: Copy, payload: TranscriptReset | TranscriptBatch): void {
    const { seq } = payload;
    if (payload.type === 'transcript.reset') {
      const { snapshot, has_more_older: hasMoreOlder } = payload;
      applyOps(copy.state, [{ op: 'reset', agentId, snapshot: { ...snapshot, hasMoreOlder } }]);
      copy.mark = seq;
      copy.damaged = snapshot.items.length === 0 && hasMoreOlder;
      reportChange(agentId, copy);
      if (copy.damaged) lose(agentId, copy);
      return;
    }
    if (seq !== undefined && copy.mark !== undefined) {
      if (seq <= copy.mark) return;
      if (gradeOf(agentId) === 'delta' && seq > copy.mark + 1) {
        lose(agentId, copy);
        copy.held?.push(payload);
        return;
      }
    }
    copy.mark = seq ?? copy.mark;
    applyBatch(agentId, copy, payload.ops);
  }

  /** Starts recovery of an agent with lost data; its frames are held until that is done. */
  function lose(agentId: string, copy: Copy): void {
    copy.held ??= [];
    if (lost.size === 0) void next(recover);
    lost.add(agentId);
  }

  function release(agentId: string, copy: Copy): void {
    const held = copy.held ?? [];
    copy.held = undefined;
    for (const payload of held) {
      if (copy.held) hold(copy.held, payload);
      else take(agentId, copy, payload);
    }
  }

  const hold = (held: NonNullable<Copy['held']>, payload: TranscriptReset | TranscriptBatch) => void held.push(payload);

  function takePage(agentId: string, copy: Copy, page: TranscriptPage): void {
    const { items, tasks, interactions, attachments, todos, prompts, meta, has_more: hasMoreOlder, seq } = page;
    const snapshot = { items, tasks, interactions, attachments, todos, prompts, meta, hasMoreOlder };
    applyOps(copy.state, [{ op: 'reset', agentId, snapshot }]);
    copy.mark = seq;
    copy.damaged = false;
    copy.cuts += 1;
  }

  /** Replaces a state by its newest turns and as many older ones as it had. */
  async function readAnew(agentId: string, copy: Copy): Promise<void> {
    const former = oldestTurn(copy.state);
    takePage(agentId, copy, await link.page(agentId, { page_size: pageSize }));
    for (;;) {
      const oldest = oldestTurn(copy.state);
      if (!copy.state.hasMoreOlder || !former || !oldest || oldest.ordinal <= former.ordinal) break;
      const page = await link.page(agentId, { before_turn: oldest.turnId, page_size: pageSize });
      prependItems(copy.state, page.items, page.has_more);
      if (oldestTurn(copy.state) === oldest) break;
    }
    reportChange(agentId, copy);
  }

  /** Recovers with the missing batches only; false when they do not connect to the state. */
  async function catchUp(agentId: string, copy: Copy): Promise<boolean> {
    if (copy.damaged || copy.mark === undefined) return false;
    const { batches, latest_seq, complete } = await link.ops(agentId, copy.mark);
    if (!complete) return false;
    for (const { ops } of batches) applyBatch(agentId, copy, ops);
    copy.mark = latest_seq;
    return !copy.damaged;
  }

  /**
   * Subscribes `since` the states of these agents; of others the server sends a baseline only if the grade was raised.
   */
  async function subscribe(agentIds: Iterable<string>): Promise<void> {
    const since: Record<string, number> = {};
    for (const agentId of agentIds) {
      const mark = copies.get(agentId)?.mark;
      if (mark !== undefined) since[agentId] = mark;
    }
    const known = Object.keys(since).length > 0 ? { transcript_since: since } : {};
    await link.subscribe({ session_id: sessionId, transcript: grades, ...known });
  }

  async function recover(): Promise<void> {
    const broken = [...lost].flatMap((agentId): [string, Copy][] => {
      const copy = copies.get(agentId);
      return copy ? [[agentId, copy]] : [];
    });
    lost.clear();
    const read: string[] = [];
    for (const [agentId, copy] of broken) {
      if (await catchUp(agentId, copy)) continue;
      await readAnew(agentId, copy);
      read.push(agentId);
    }
    if (read.length > 0) await subscribe(read);
    for (const [agentId, copy] of broken) release(agentId, copy);
  }

  function copyOf(agentId: string): Copy {
    const known = copies.get(agentId) ?? newCopy();
    copies.set(agentId, known);
    return known;
  }

  return {
    follow: (wanted) =>
      next(async () => {
        const before = gradesOf(copies.keys());
        grades = { ...wanted };
        for (const agentId of copies.keys()) if (gradeOf(agentId) === 'off') copies.delete(agentId);
        const fresh = Object.keys(grades).filter(
          (agentId) => agentId !== '*' && grades[agentId] !== 'off' && (copies.get(agentId)?.damaged ?? true),
        );
        for (const agentId of fresh) copyOf(agentId).held ??= [];
        await Promise.all(fresh.map((agentId) => readAnew(agentId, copyOf(agentId))));
        // A state whose grade was raised lacks detail, so the server sends it again.
        const kept = [...copies.keys()].filter(
          (agentId) => fresh.includes(agentId) || before.get(agentId) === gradeOf(agentId),
        );
        await subscribe(kept);
        for (const agentId of fresh) {
          lost.delete(agentId);
          release(agentId, copyOf(agentId));
        }
      }),
    state: (agentId) => copies.get(agentId)?.state,
    mark: (agentId) => copies.get(agentId)?.mark,
    settled: (agentId) => copies.has(agentId) && copies.get(agentId)?.held === undefined,
    async older(agentId) {
      for (let tries = 0; tries < OLDER_TRIES; tries += 1) {
        const copy = copies.get(agentId);
        const oldest = copy && oldestTurn(copy.state);
        if (!copy?.state.hasMoreOlder || !oldest) return;
        const { cuts } = copy;
        const page = await link.page(agentId, { before_turn: oldest.turnId, page_size: pageSize });
        if (copies.get(agentId) !== copy || closed) return;
        // The page may contain turns that were removed meanwhile.
        if (copy.cuts !== cuts) continue;
        prependItems(copy.state, page.items, page.has_more);
        reportChange(agentId, copy);
        return;
      }
    },
    frame(payload) {
      const { agent_id: agentId } = payload;
      if (closed || gradeOf(agentId) === 'off') return;
      if (payload.type === 'transcript.ops' && !copies.has(agentId)) return;
      const copy = copyOf(agentId);
      if (payload.type === 'transcript.reset' || payload.ops.some(({ op }) => op === 'items.remove')) copy.cuts += 1;
      if (copy.held) hold(copy.held, payload);
      else take(agentId, copy, payload);
    },
    resync() {
      for (const [agentId, copy] of copies) lose(agentId, copy);
      return work;
    },
    connected: () =>
      next(async () => {
        const broken = [...copies].filter(([, { held, damaged }]) => held !== undefined || damaged);
        for (const [, copy] of broken) copy.held = [];
        for (const [agentId, copy] of broken) await readAnew(agentId, copy);
        lost.clear();
        await subscribe(copies.keys());
        for (const [agentId, copy] of broken) release(agentId, copy);
      }),
    close() {
      closed = true;
      copies.clear();
    },
  };

  function gradesOf(agentIds: Iterable<string>): Map<string, Grade> {
    return new Map([...agentIds].map((agentId) => [agentId, gradeOf(agentId)]));
  }
}

function oldestTurn({ items }: TranscriptState) {
  return items.find((item) => item.kind === 'turn');
}
