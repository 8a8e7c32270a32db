/** Approvals of tool calls: at most one pending per agent, any number per session. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '#server/clock.ts';
import type { RememberedRule } from '#server/journal/projections/context.ts';
import { event, type Draft, type EndCause } from '#server/journal/records.ts';
import type { Stored } from '#server/journal/texts.ts';
import type { Caller } from '#schema/rest/caller.ts';
import type { Display } from '#schema/rest/display.ts';
import type { Approval, ApprovalDecision, ResolveApproval } from '#schema/rest/interaction.ts';
import { iso } from '#schema/scalars.ts';
import { INTERACTION_LIFETIME_MS, type Interactions } from './interactions.ts';

export interface ApprovalQuestion {
  agentId: string;
  turnId: number;
  toolCallId: string;
  toolName: string;
  /** Label displayed to people. */
  action: string;
  /** Its long texts, and those of the input, are stored already. */
  display: Stored<{ display: Display }>['display'];
  toolInput: unknown;
  /** Rule that an approval "for the session" adds; undefined when no rule can be added. */
  rule?: RememberedRule | undefined;
}

export interface ApprovalAnswer {
  decision: ApprovalDecision;
  scope?: 'session';
  feedback?: string;
  selectedLabel?: string;
  /** The client that answered; undefined for an end without an answer. */
  by?: Caller;
}

export interface Approvals {
  /** Suspends a call until a client answers; `answer` rejects with the signal's reason when the turn is aborted. */
  ask(question: ApprovalQuestion, signal: AbortSignal): { id: string; answer: Promise<ApprovalAnswer> };
  /** Throws `approval.not_found`, `.already_resolved` or `.expired`, `session.busy`, `persistence.failure`. */
  resolve(id: string, body: ResolveApproval, by?: Caller): Promise<{ resolved_at: string }>;
}

/** Creates the approvals of one loaded session. */
export function createApprovals(sessionId: string, interactions: Interactions, clock: Clock): Approvals {
  const kind = interactions.kind<ApprovalAnswer>({
    noun: 'approval',
    notFound: 'approval.not_found',
    expired: 'approval.expired',
  });

  function approvalOf(id: string, question: ApprovalQuestion): Stored<Approval> {
    const created = clock.now();
    return {
      approval_id: id,
      session_id: sessionId,
      agent_id: question.agentId,
      turn_id: question.turnId,
      tool_call_id: question.toolCallId,
      tool_name: question.toolName,
      action: question.action,
      tool_input_display: question.display,
      created_at: iso(created),
      expires_at: iso(created + INTERACTION_LIFETIME_MS),
    };
  }

  return {
    ask(question, signal) {
      const id = `approval_${randomUUID()}`;
      const answer = kind.ask({
        id,
        agentId: question.agentId,
        turnId: question.turnId,
        signal,
        onAbort: 'turn',
        opening: [
          event(question.agentId, 'permission.approval.requested', permissionFacts(id, question)),
          event(question.agentId, 'event.approval.requested', approvalOf(id, question)),
        ],
        closing: (given, at, cause) => closing(id, question, given, at, cause),
        unanswered: (cause) =>
          cause === 'timed_out' ? { decision: 'cancelled', feedback: 'approval timed out' } : { decision: 'cancelled' },
      });
      return { id, answer };
    },

    async resolve(id, body, by) {
      const at = await kind.answer(id, {
        decision: body.decision,
        ...(body.scope ? { scope: body.scope } : {}),
        ...(body.feedback ? { feedback: body.feedback } : {}),
        ...(body.selected_label ? { selectedLabel: body.selected_label } : {}),
        ...(by ? { by } : {}),
      });
      return { resolved_at: iso(at) };
    },
  };
}

const permissionFacts = (id: string, question: ApprovalQuestion) => ({
  id,
  turnId: question.turnId,
  toolCallId: question.toolCallId,
  toolName: question.toolName,
  action: question.action,
  display: question.display,
  toolInput: question.toolInput,
});

function closing(
  id: string,
  question: ApprovalQuestion,
  { decision, scope, feedback, selectedLabel, by }: ApprovalAnswer,
  at: number,
  cause: EndCause | undefined,
): Draft[] {
  const remembered = decision === 'approved' && scope === 'session' ? question.rule : undefined;
  const extras = { ...remembered, ...(cause ? { cause } : {}), ...(by ? { by } : {}) };
  const resolved = event(
    question.agentId,
    'event.approval.resolved',
    {
      approval_id: id,
      decision,
      ...(scope ? { scope } : {}),
      ...(feedback ? { feedback } : {}),
      ...(selectedLabel ? { selected_label: selectedLabel } : {}),
      resolved_at: iso(at),
    },
    Object.keys(extras).length > 0 ? extras : undefined,
  );
  // When a turn ends, its approvals emit the resolution only.
  if (cause === 'turn_ended' || cause === 'disposed') return [resolved];
  const permission = event(question.agentId, 'permission.approval.resolved', {
    ...permissionFacts(id, question),
    decision,
    ...(scope ? { scope } : {}),
    ...(feedback ? { feedback } : {}),
    ...(selectedLabel ? { selectedLabel } : {}),
  });
  return [resolved, permission];
}
