/** The three endings of a turn as records: completed, cancelled, failed. Each is one journal line. */
import { requestMessages } from '#server/journal/projections/context.ts';
import { entering, event, unsent, type Draft } from '#server/journal/records.ts';
import type { ErrorPayload } from '#schema/engine.ts';
import type { InterruptReason } from '#schema/events/turns.ts';
import { iso, type TurnOutcome } from '#schema/scalars.ts';
import type { AgentContext } from '../contract/context.ts';
import { TurnAborted } from '../contract/errors.ts';
import { interruptionReminder } from '../prompt/reminders.ts';
import type { OpenStep, Turn } from './open-turn.ts';

interface Ending {
  /** Records of an answer that arrived only in part. */
  partial?: Draft[];
  /** Records of input that no step has taken: it was accepted, so it must not be lost. */
  untaken(): Draft[];
}

export interface Cancellation extends Ending {
  open: OpenStep | undefined;
}

export interface Failure extends Ending {
  error: ErrorPayload;
  /** The step that was cut short. */
  interrupted?: { step: number; stepId?: string; reason: 'max_steps' | 'error' } | undefined;
  /** Default: the reason of the step. */
  reason?: InterruptReason;
}

export interface TurnEndings {
  /** `line` are the records that precede the ending in the same journal line. */
  completed(line: Draft[]): Draft[];
  cancelled(cancellation: Cancellation): Draft[];
  failed(failure: Failure): Draft[];
}

/** Creates the endings of a turn that starts now. */
export function createTurnEndings(agent: AgentContext, turn: Turn): TurnEndings {
  const { id, log, session } = agent;
  const { id: turnId, signal } = turn;
  const { clock, features, interactions } = session;
  const startedAt = clock.now();

  /** Builds `turn.ended` with the records of features; `line` precedes it. */
  function ended(
    line: Draft[],
    outcome: TurnOutcome,
    extra: { error?: ErrorPayload; interruptReason?: InterruptReason } = {},
    behind: Draft[] = [],
  ): Draft[] {
    const hooks = features.map((feature) => feature.onTurnEnd?.(agent, turnId, outcome, { ...extra, line }) ?? {});
    turn.stream.changesAtEnd(Object.assign({}, ...hooks.map(({ facts }) => facts)));
    // The clock may have been set back.
    const durationMs = Math.max(0, clock.now() - startedAt);
    return [
      ...hooks.flatMap((hook) => hook.before ?? []),
      event(id, 'turn.ended', { turnId, reason: outcome, durationMs, ...extra }),
      ...behind,
      ...hooks.flatMap((hook) => hook.after ?? []),
    ];
  }

  /** Results for calls of the open step that never started. */
  function missingResults(): Draft[] {
    const calls = log.state.status.agents.get(id)?.turn?.step?.calls;
    return [...(calls?.keys() ?? [])].map((call) => unstartedResult(id, turnId, call));
  }

  function settledPrompt(reason: 'completed' | 'failed'): Draft[] {
    if (turn.promptId === undefined) return [];
    return [event(id, 'prompt.completed', { promptId: turn.promptId, finishedAt: iso(clock.now()), reason })];
  }

  function abortedPrompt(): Draft[] {
    if (turn.promptId === undefined) return [];
    return [event(id, 'prompt.aborted', { promptId: turn.promptId, abortedAt: iso(clock.now()) })];
  }

  return {
    completed: (line) => [...ended(line, 'completed'), ...settledPrompt('completed')],

    cancelled({ partial = [], open, untaken }) {
      const reason = signal.reason instanceof TurnAborted ? signal.reason : undefined;
      const byUser = reason?.by === 'user';
      const message = byUser ? {} : { message: reason?.message ?? 'aborted' };
      const reminder = byUser ? interruptionReminder(requestMessages(agent.state())) : [];
      const line = [
        ...partial,
        ...missingResults(),
        ...(open ? [event(id, 'turn.step.interrupted', { turnId, ...open, reason: 'aborted', ...message })] : []),
        ...interactions.endTurn(id, turnId),
      ];
      return [
        ...line,
        ...ended(line, 'cancelled', { interruptReason: byUser ? 'user_cancelled' : 'aborted' }),
        ...untaken(),
        ...(reminder.length > 0 ? [entering(id, reminder, { cause: 'reminder' })] : []),
        ...abortedPrompt(),
      ];
    },

    failed({ error, partial = [], interrupted, reason = interrupted?.reason ?? 'error', untaken }) {
      const message = `[${error.code}] ${error.message}`;
      const line = [
        ...partial,
        ...missingResults(),
        ...(interrupted ? [event(id, 'turn.step.interrupted', { turnId, ...interrupted, message })] : []),
        ...interactions.endTurn(id, turnId),
      ];
      return [
        ...line,
        ...ended(line, 'failed', { error, interruptReason: reason }, [event(id, 'error', error)]),
        ...untaken(),
        ...settledPrompt('failed'),
      ];
    },
  };
}

/** The result of a call that never ran and never entered the context. */
export const unstartedResult = (agentId: string, turnId: number, toolCallId: string): Draft =>
  unsent(
    event(agentId, 'tool.result', {
      turnId,
      toolCallId,
      output: 'The call was interrupted before it started; it had no effect.',
      isError: true,
      synthetic: true,
    }),
  );
