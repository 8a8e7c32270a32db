/**
 * Search over all sessions of the home. One worker thread reads and writes its index; this part sends the
 * thread the sessions that changed, and completes its answers from the session index.
 */
import { join } from 'node:path';
import { systemClock as clock } from '#server/clock.ts';
import { errorMessage, ServiceError } from '#server/errors/service-error.ts';
import type { EventFrame } from '#server/events/frame.ts';
import type { Logger } from '#server/logging/log.ts';
import type { SessionHeader } from '#server/sessions/index/session-header.ts';
import { acquireLease, type Lease, type LeaseHolder } from '#server/storage/lease.ts';
import type { Thread } from '#server/threads/thread.ts';
import type { SearchHit, SearchReply, SearchRequest } from '#schema/rest/search.ts';
import type { FoundDocument, Hint, Notice, SearchAnswer, SearchJob } from './messages.ts';
import type { SearchThreadEvents } from './open-thread.ts';
import { parseQuery } from './query.ts';

const HINT_AFTER_MS = 20;
const START_AFTER_MS = 5_000;
/** Interval of passes over all sessions, and of attempts to acquire the lease. */
export const SEARCH_EVERY_MS = 60_000;

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
  /** Milliseconds between two attempts to acquire the lease. */
  leaseEveryMs: number;
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
  const { sessionsDir, lockPath, holder, openThread, leaseEveryMs, sessionOf, countSessions, log } = deps;
  const changedIds = new Set<string>();
  let thread: Thread | undefined;
  let lease: Lease | undefined;
  let leasing: Promise<void> | undefined;
  let cancelHints: (() => void) | undefined;
  let cancelLease: (() => void) | undefined;
  let cancelStart: (() => void) | undefined;
  let closed = false;

  function tell(notice: Notice): void {
    thread?.tell(notice);
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
        const taken = await acquireLease(lockPath, holder);
        lease = 'lease' in taken ? taken.lease : undefined;
      }
    } catch (error) {
      log.warn('the lease of the search index cannot be acquired', { err: error });
    }
    tell({ kind: 'fill', active: lease !== undefined });
    if (!closed) cancelLease = clock.setTimeout(renewLease, leaseEveryMs);
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
    renewLease();
    sendHints();
    return thread;
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
      const running = start();
      cancelHints?.();
      sendHints();
      const job: SearchJob = {
        query,
        size: request.page_size,
        token: request.page_token,
        live: isLive ? hintOf(sessionId) : undefined,
      };
      // Both ends of the thread have one version.
      const answer = (await running.ask(job, signal)) as SearchAnswer;
      return replyOf(answer, isLive);
    },
    changed,
    receive({ type, sessionId, volatile }) {
      if (!volatile && CHANGING.has(type)) changed(sessionId);
    },
    startBackground() {
      cancelStart = clock.setTimeout(() => void start(), START_AFTER_MS);
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

  function replyOf(answer: SearchAnswer, isLive: boolean): SearchReply {
    const { found, hasMore, token, incomplete, state, indexedSessions, documents, degraded } = answer;
    return {
      items: found.flatMap(hitOf),
      has_more: hasMore,
      ...(token === undefined ? {} : { page_token: token }),
      ...(incomplete ? { incomplete } : {}),
      index_state: isLive
        ? { state: 'ready', indexed_sessions: 1, total_sessions: 1, documents }
        : {
            state,
            indexed_sessions: indexedSessions,
            total_sessions: countSessions(),
            documents,
            ...(state === 'building' ? { stale: true as const } : {}),
            ...(degraded === undefined ? {} : { degraded }),
          },
      source: isLive ? 'live' : 'index',
    };
  }
}
