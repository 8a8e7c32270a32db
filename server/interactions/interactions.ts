/**
 * What a session asks of people: asked, answered once, expired, closed with its turn. What waits and what ended is the
 * journal's to say; here are only the promises of those who wait.
 */
import type { Clock } from '#server/clock.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import type { ErrorName } from '#server/errors/catalogue.ts';
import type { Draft, EndCause } from '#server/journal/records.ts';
import type { SessionLog } from '#server/journal/session-log.ts';

/** How long an interaction waits for its answer. */
export const INTERACTION_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** One kind of interaction: its names towards clients. */
export interface KindNames {
  /** As messages call it. */
  noun: string;
  notFound: ErrorName;
  expired: ErrorName;
}

/** Something asked. */
export interface Asked<Answer> {
  id: string;
  agentId: string;
  /** The turn that it ends with; absent for what outlives the turn that asked. */
  turnId?: number;
  /** Of who waits. */
  signal: AbortSignal;
  /**
   * What an abort does: `turn` lets the wait reject at once and closes with the turn's last line; `close` closes at once
   * and ends the wait with the answer that stands for it.
   */
  onAbort: 'turn' | 'close';
  /** Why an abort that closes it ended it; its turn's end unless given. Undefined: somebody wished it. */
  abortCause?(): EndCause | undefined;
  /** Records that ask. */
  opening: Draft[];
  /** Records of its end; `cause` is absent when somebody answered. `at` in ms. */
  closing(answer: Answer, at: number, cause?: EndCause): Draft[];
  /** The answer that an end without one stands for. */
  unanswered(cause: EndCause | undefined): Answer;
}

export interface InteractionKind<Answer> {
  /** Appends what asks and waits for the answer. Throws 50003; rejects with the signal's reason, see `onAbort`. */
  ask(asked: Asked<Answer>): Promise<Answer>;
  /**
   * The first answer wins: its records are written when this resolves with their time in ms. Throws the kind's codes,
   * 40901 where another process holds the session, 50003.
   */
  answer(id: string, answer: Answer): Promise<number>;
  /** Throws what an answer to this id would throw. */
  assertPending(id: string): Promise<void>;
}

export interface Interactions {
  /** Registers a kind; once per session and kind. */
  kind<Answer>(names: KindNames): InteractionKind<Answer>;
  /** Closes what a turn left open and returns the records, for the turn's last line. */
  endTurn(agentId: string, turnId: number): Draft[];
  /** Something waits in this process. */
  pending(): boolean;
}

export interface InteractionsDeps {
  log: SessionLog;
  clock: Clock;
}

interface Waiting<Answer> {
  asked: Asked<Answer>;
  /** Ends the wait. */
  end(answer: Answer): void;
}

/** What `endTurn` needs of a wait, whatever its answer is. */
interface Open {
  agentId: string;
  turnId: number | undefined;
  close(): Draft[];
}

/** Creates the service of one loaded session. */
export function createInteractions({ log, clock }: InteractionsDeps): Interactions {
  const open = new Map<string, Open>();

  function kind<Answer>(names: KindNames): InteractionKind<Answer> {
    const waiting = new Map<string, Waiting<Answer>>();

    /** Takes it off the list. */
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

    /** The entry that may be answered now; else throws why none can. */
    function answerable(id: string): Waiting<Answer> {
      const entry = waiting.get(id);
      // Once its turn is aborted only the turn's end closes it.
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
        const callOff = clock.setTimeout(() => {
          if (!signal.aborted) endWithout(id, 'timed_out');
        }, INTERACTION_LIFETIME_MS);
        const onAbort = () => {
          callOff();
          if (asked.onAbort === 'close') endWithout(id, asked.abortCause ? asked.abortCause() : 'turn_ended');
          else reject(signal.reason);
        };
        signal.addEventListener('abort', onAbort, { once: true });
        waiting.set(id, {
          asked,
          end(answer) {
            callOff();
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
