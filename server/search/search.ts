/**
 * Search over all sessions of the home. One worker thread reads and writes its index; this part sends the
 * thread the sessions that changed, and completes its answers from the session index.
 */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { systemClock as clock } from '#server/clock.ts';
import { errorMessage, ServiceError } from '#server/errors/service-error.ts';
import type { EventFrame } from '#server/events/frame.ts';
import type { Logger } from '#server/logging/log.ts';
import type { SessionHeader } from '#server/sessions/index/session-header.ts';
import { acquireLease, type Lease, type LeaseHolder } from '#server/storage/lease.ts';
import type { Thread } from '#server/threads/thread.ts';
import type { SearchHit, SearchReply, SearchRequest } from '#schema/rest/search.ts';
import type { FoundDocument, Hint, Notice, SearchAnswer, SearchJob, ThreadRequest } from './messages.ts';
import type { SearchThreadEvents } from './open-thread.ts';
import { parseQuery } from './query.ts';

const HINT_AFTER_MS = 20;

export interface SearchTimes {
  /** Milliseconds from the start of the server to that of its thread, unless a search comes first. */
  startAfterMs: number;
  /** Milliseconds between two passes over all sessions, and between two attempts to acquire the lease. */
  everyMs: number;
}

export const searchTimes: SearchTimes = { startAfterMs: 5_000, everyMs: 60_000 };

/** Events after which a session has other documents. */
const CHANGING: ReadonlySet<string> = new Set([
  'context.spliced',
  'context.undone',
  'event.session.created',
  'session.meta.updated',
  'turn.step.completed',
  'turn.step.interrupted',
  'turn.ended',
]);

const createdPayload = z.object({ session: z.object({ title: z.literal(''), last_prompt: z.undefined().optional() }) });

/** Whether a session was created without a text: a pass adds its row, so that creating many takes no time of the thread. */
const isEmptySession = ({ type, payload }: EventFrame) =>
  type === 'event.session.created' && createdPayload.safeParse(payload).success;

/** Until the thread runs again. */
const nothingFound: SearchAnswer = { found: [], hasMore: false, state: 'building', indexedSessions: 0, documents: 0 };

// Both ends of the thread have one version.
const requestPage = async (thread: Thread, job: SearchJob, signal: AbortSignal) =>
  (await thread.request({ kind: 'search', job } satisfies ThreadRequest, { signal })) as SearchAnswer;

export interface Search {
  /** Finds one page. Throws `validation.failed`, `internal.error` and the signal's reason. */
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchReply>;
  /** Takes note that a session's header changed without an event. */
  changed(sessionId: string): void;
  /** Receives the events of all sessions. */
  receive(frame: EventFrame): void;
  /** Indexes from some seconds later on. */
  startBackground(): void;
  close(): Promise<void>;
}

export interface SearchDeps {
  /** `<home>/sessions` */
  sessionsDir: string;
  /** Path of the lease; its holder is the server that indexes cold sessions. */
  lockPath: string;
  holder: LeaseHolder;
  /** Starts the search thread. */
  openThread(events: SearchThreadEvents): Thread;
  times: SearchTimes;
  /** A session of the home, with the length of its journal in bytes. */
  sessionOf(id: string): { header: SessionHeader; length: number; isLive: boolean } | undefined;
  /** Number of sessions of the home. */
  countSessions(): number;
  /** All ids of a workspace. */
  workspaceIds(id: string): Promise<string[]>;
  log: Logger;
}

/** Creates the service; its thread starts with the first search, or some seconds after the server. */
export function createSearch(deps: SearchDeps): Search {
  const { sessionsDir, lockPath, holder, openThread, times, sessionOf, countSessions, log } = deps;
  const changedIds = new Set<string>();
  let thread: Thread | undefined;
  let lease: Lease | undefined;
  let leasing: Promise<void> | undefined;
  let cancelHints: (() => void) | undefined;
  let cancelLease: (() => void) | undefined;
  let cancelStart: (() => void) | undefined;
  let closed = false;

  function tell(notice: Notice): void {
    thread?.send(notice);
  }

  function hintOf(id: string): Hint | undefined {
    const session = sessionOf(id);
    if (!session) return undefined;
    const { header, length } = session;
    const { workspaceId, archived } = header;
    return { id, workspaceId, archived, folder: join(sessionsDir, workspaceId, id), length };
  }

  function sendHints(): void {
    cancelHints = undefined;
    const ids = [...changedIds];
    changedIds.clear();
    try {
      const hints = ids.flatMap((id) => hintOf(id) ?? []);
      if (hints.length > 0) tell({ kind: 'hints', hints });
    } catch (error) {
      // The session index cannot be read; the next pass finds what these sessions lack.
      log.warn('changed sessions could not be reported to the search index', { err: error });
    }
  }

  function changed(sessionId: string): void {
    changedIds.add(sessionId);
    if (thread) cancelHints ??= clock.setTimeout(sendHints, HINT_AFTER_MS);
  }

  /** Whether this server still owns the lease that it had. */
  function ownsLease(): boolean {
    try {
      lease?.fence();
    } catch (error) {
      lease = undefined;
      log.warn('the lease of the search index is lost', { err: error });
    }
    return lease !== undefined;
  }

  /** One server at a time indexes the sessions that no server has loaded. */
  async function holdLease(): Promise<void> {
    try {
      if (!ownsLease()) {
        await mkdir(dirname(lockPath), { recursive: true, mode: 0o700 });
        const taken = await acquireLease(lockPath, holder);
        lease = 'lease' in taken ? taken.lease : undefined;
      }
    } catch (error) {
      log.warn('the lease of the search index cannot be acquired', { err: error });
    }
    tell({ kind: 'fill', active: lease !== undefined });
    if (!closed) cancelLease = clock.setTimeout(renewLease, times.everyMs);
  }

  function renewLease(): void {
    cancelLease?.();
    leasing = (leasing ?? Promise.resolve()).then(holdLease);
  }

  function start(): Thread {
    if (closed) throw new ServiceError('internal.error', 'the server is stopping');
    if (thread) return thread;
    cancelStart?.();
    thread = openThread({
      onDeath() {
        // The next search starts it again; its state is in the file.
        thread = undefined;
        cancelLease?.();
      },
      onCheckLease: () => tell({ kind: 'fill', active: ownsLease() }),
    });
    // Messages without an answer do not start it.
    thread.request({ kind: 'open' } satisfies ThreadRequest).catch((error: unknown) => {
      log.error('the search index cannot be opened', { err: error });
    });
    renewLease();
    sendHints();
    return thread;
  }

  /** Answers a page. Where the thread ends before its answer, it is started again a single time. */
  async function answer(job: SearchJob, signal: AbortSignal): Promise<SearchAnswer> {
    const running = start();
    cancelHints?.();
    sendHints();
    try {
      return await requestPage(running, job, signal);
    } catch (error) {
      // Only its end replaces the thread.
      if (thread === running || closed) throw error;
    }
    const next = start();
    try {
      return await requestPage(next, job, signal);
    } catch (error) {
      if (thread === next || closed) throw error;
      return { ...nothingFound, degraded: errorMessage(error) };
    }
  }

  function hitOf({ sessionId, agentId, role, snippet, time, turn, step, score }: FoundDocument): SearchHit[] {
    const { header } = sessionOf(sessionId) ?? {};
    if (!header || header.archived) return [];
    return [
      {
        session_id: sessionId,
        workspace_id: header.workspaceId,
        session_title: header.title,
        agent_id: agentId,
        role,
        snippet,
        time,
        ...(turn === undefined ? {} : { turn }),
        ...(turn === undefined || step === undefined ? {} : { step_id: `t${turn}.${step}` }),
        score,
      },
    ];
  }

  return {
    async search(request, signal) {
      const workspaceId = request.container?.workspace_id;
      const query = parseQuery(request, workspaceId === undefined ? undefined : await deps.workspaceIds(workspaceId));
      const sessionId = request.container?.session_id;
      const isLive = sessionId !== undefined && sessionOf(sessionId)?.isLive === true;
      const job: SearchJob = {
        query,
        size: request.page_size,
        token: request.page_token,
        live: isLive ? hintOf(sessionId) : undefined,
      };
      return replyOf(await answer(job, signal), isLive);
    },
    changed,
    receive(frame) {
      if (!frame.volatile && CHANGING.has(frame.type) && !isEmptySession(frame)) changed(frame.sessionId);
    },
    startBackground() {
      cancelStart = clock.setTimeout(() => void start(), times.startAfterMs);
    },
    async close() {
      closed = true;
      cancelStart?.();
      cancelHints?.();
      cancelLease?.();
      await thread?.close();
      // A lease that is just being acquired would outlive the server.
      await leasing;
      await lease?.release().catch((error: unknown) => log.warn(errorMessage(error)));
    },
  };

  function indexStateOf(answer: SearchAnswer, isLive: boolean): SearchReply['index_state'] {
    const { state, indexedSessions, documents } = answer;
    let { degraded } = answer;
    if (isLive) {
      const facts = { state: 'ready', indexed_sessions: 1, total_sessions: 1, documents } as const;
      return degraded === undefined ? facts : { ...facts, stale: true, degraded };
    }
    let total = indexedSessions;
    try {
      total = countSessions();
    } catch (error) {
      degraded ??= errorMessage(error);
    }
    return {
      state,
      indexed_sessions: indexedSessions,
      total_sessions: total,
      documents,
      ...(state === 'building' || degraded !== undefined ? { stale: true as const } : {}),
      ...(degraded === undefined ? {} : { degraded }),
    };
  }

  function replyOf(answer: SearchAnswer, isLive: boolean): SearchReply {
    const { found, hasMore, token, incomplete } = answer;
    return {
      items: found.flatMap(hitOf),
      has_more: hasMore,
      ...(token === undefined ? {} : { page_token: token }),
      ...(incomplete ? { incomplete } : {}),
      index_state: indexStateOf(answer, isLive),
      source: isLive ? 'live' : 'index',
    };
  }
}
