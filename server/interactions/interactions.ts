/**
 * Interactions: requests of a session to people, which are answered once, expire, or close with their turn. The journal
 * records pending and ended ones; this file only has the promises of the waiting callers.
 */
import type { Clock } from '#server/clock.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import type { ErrorName } from '#server/errors/catalogue.ts';
import type { Draft, EndCause } from '#server/journal/records.ts';
import type { SessionLog } from '#server/journal/session-log.ts';

/** How long an interaction waits for its answer. */
export const INTERACTION_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** One kind of interaction, with its names in messages and errors. */
export interface KindNames {
  /** Noun in error messages. */
  noun: string;
  notFound: ErrorName;
  expired: ErrorName;
}

/** A new interaction. */
export interface Asked<Answer> {
  id: string;
  agentId: string;
  /** The turn with which it ends; absent for an interaction that outlives its turn. */
  turnId?: number;
  /** The waiting caller's signal. */
  signal: AbortSignal;
  /**
   * Effect of an abort: `turn` rejects the wait immediately and leaves the closing to the turn's last line; `close`
   * closes immediately and resolves the wait with the `unanswered` answer.
   */
  onAbort: 'turn' | 'close';
  /** Cause of an abort with `close`; default: the turn ended. Undefined: a client requested the abort. */
  abortCause?(): EndCause | undefined;
  /** Records of the request. */
  opening: Draft[];
  /** Records of its end; `cause` is absent after an answer. `at` in ms. */
  closing(answer: Answer, at: number, cause?: EndCause): Draft[];
  /** The answer that represents an end without one. */
  unanswered(cause: EndCause | undefined): Answer;
}

export interface InteractionKind<Answer> {
  /** Appends the request and waits for the answer. Throws `persistence.failure`; rejects as `onAbort` describes. */
  ask(asked: Asked<Answer>): Promise<Answer>;
  /**
   * The first answer wins: its records are written when this resolves with their time in ms. Throws the kind's errors,
   * `approval.already_resolved`, `session.busy` where another process owns the session, `persistence.failure`.
   */
  answer(id: string, answer: Answer): Promise<number>;
  /** Throws the error that an answer to this id would cause. */
  assertPending(id: string): Promise<void>;
}

export interface Interactions {
  /** Registers a kind; a single time per session and kind. */
  kind<Answer>(names: KindNames): InteractionKind<Answer>;
  /** Closes the open interactions of a turn and returns the records, for the turn's last line. */
  endTurn(agentId: string, turnId: number): Draft[];
  /** Whether an interaction waits in this process. */
  pending(): boolean;
}

export interface InteractionsDeps {
  log: SessionLog;
  clock: Clock;
}

interface Waiting<Answer> {
  asked: Asked<Answer>;
  /** Resolves the waiting promise. */
  end(answer: Answer): void;
}

/** The part of a wait that `endTurn` needs, independent of the answer's type. */
interface Open {
  agentId: string;
  turnId: number | undefined;
  close(): Draft[];
}

/** Creates the interactions of one loaded session. */
export function createInteractions({ log, clock }: InteractionsDeps): Interactions {
  const open = new Map<string, Open>();

  function kind<Answer>(names: KindNames): InteractionKind<Answer> {
    const waiting = new Map<string, Waiting<Answer>>();

    /** Removes a wait from both maps. */
    function take(id: string): Waiting<Answer> | undefined {
      const entry = waiting.get(id);
      waiting.delete(id);
      open.delete(id);
      return entry;
    }

    function endWithout(id: string, cause: EndCause | undefined): void {
      const entry = take(id);
      if (!entry) return;
      const answer = entry.asked.unanswered(cause);
      log.attempt(entry.asked.closing(answer, clock.now(), cause));
      entry.end(answer);
    }

    /** Returns the wait that can be answered now; otherwise throws the reason. */
    function answerable(id: string): Waiting<Answer> {
      const entry = waiting.get(id);
      // After an abort of its turn only the turn's end closes it.
      if (entry && !entry.asked.signal.aborted) return entry;
      const ended = entry ? 'resolved' : log.state.interactions.ended.get(id);
      if (ended === 'resolved') {
        throw new ServiceError('approval.already_resolved', `${names.noun} ${id} already resolved`, {
          data: { resolved: false },
        });
      }
      if (ended === 'expired') throw new ServiceError(names.expired, `${names.noun} ${id} expired`);
      throw new ServiceError(names.notFound, `${names.noun} ${id} not found`);
    }

    function ask(asked: Asked<Answer>): Promise<Answer> {
      const { id, agentId, turnId, signal } = asked;
      signal.throwIfAborted();
      log.append(asked.opening);
      return new Promise<Answer>((resolve, reject) => {
        const cancelTimer = clock.setTimeout(() => {
          if (!signal.aborted) endWithout(id, 'timed_out');
        }, INTERACTION_LIFETIME_MS);
        const onAbort = () => {
          cancelTimer();
          if (asked.onAbort === 'close') endWithout(id, asked.abortCause ? asked.abortCause() : 'turn_ended');
          else reject(signal.reason);
        };
        signal.addEventListener('abort', onAbort, { once: true });
        waiting.set(id, {
          asked,
          end(answer) {
            cancelTimer();
            signal.removeEventListener('abort', onAbort);
            resolve(answer);
          },
        });
        open.set(id, {
          agentId,
          turnId,
          close() {
            const entry = take(id);
            if (!entry) return [];
            const answer = asked.unanswered('turn_ended');
            entry.end(answer);
            return asked.closing(answer, clock.now(), 'turn_ended');
          },
        });
      });
    }

    return {
      ask,
      async assertPending(id) {
        await log.assertNotHeld();
        answerable(id);
      },
      async answer(id, answer) {
        await log.assertNotHeld();
        const { asked, end } = answerable(id);
        const at = clock.now();
        log.append(asked.closing(answer, at));
        take(id);
        end(answer);
        return at;
      },
    };
  }

  return {
    kind,
    endTurn: (agentId, turnId) =>
      [...open.values()]
        .filter((entry) => entry.agentId === agentId && entry.turnId === turnId)
        .flatMap((entry) => entry.close()),
    pending: () => open.size > 0,
  };
}
