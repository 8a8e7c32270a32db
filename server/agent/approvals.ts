/** Pending approvals of a session: one winner each, closed by an event (turns.md §3, engine.md §6.4). */
import { randomUUID } from 'node:crypto';
import { ServiceError } from '#server/errors/service-error.ts';
import { event, type Draft, type EndCause } from '#server/journal/records.ts';
import type { Display } from '#schema/display.ts';
import type { Approval, ApprovalDecision, ResolveApproval } from '#schema/interaction.ts';
import { iso } from '#schema/scalars.ts';
import type { WorkState } from './work-state.ts';

export const APPROVAL_LIFETIME_MS = 24 * 60 * 60 * 1000;
/** Ends of interactions remembered to tell "already resolved" from "never existed". */
const REMEMBERED_ENDS = 256;

export interface ApprovalQuestion {
  agentId: string;
  turnId: number;
  toolCallId: string;
  toolName: string;
  /** Label for people. */
  action: string;
  display: Display;
  toolInput: unknown;
  /** Rule that "for the session" would remember; undefined when nothing can be remembered. */
  rule?: string | undefined;
}

export interface ApprovalAnswer {
  decision: ApprovalDecision;
  scope?: 'session';
  feedback?: string;
  selectedLabel?: string;
}

interface Waiting {
  approval: Approval;
  question: ApprovalQuestion;
  /** The turn's: once aborted, only the turn's end closes the approval. */
  signal: AbortSignal;
  settle(answer: ApprovalAnswer): void;
  timer: NodeJS.Timeout;
}

export interface Approvals {
  /** Parks a call until somebody answers; rejects with the signal's reason when the turn is aborted. */
  ask(question: ApprovalQuestion, signal: AbortSignal): { id: string; answer: Promise<ApprovalAnswer> };
  /** All agents, oldest first. */
  pending(): Approval[];
  /** Throws 40404, 40902 or 41001. */
  resolve(id: string, body: ResolveApproval): { resolved_at: string };
  /** Closes what a turn left open and returns the records, for the turn's last line. */
  endTurn(agentId: string, turnId: number): Draft[];
}

export interface ApprovalsDeps {
  sessionId: string;
  work: WorkState;
  append(drafts: Draft[]): void;
  now(): number;
  lifetimeMs: number;
}

/** Creates the registry of one loaded session. */
export function createApprovals(deps: ApprovalsDeps): Approvals {
  const waiting = new Map<string, Waiting>();
  const ended = new Map<string, 'resolved' | 'expired'>();

  const remember = (id: string, how: 'resolved' | 'expired') => {
    ended.set(id, how);
    const oldest = ended.keys().next();
    if (ended.size > REMEMBERED_ENDS && !oldest.done) ended.delete(oldest.value);
  };

  const facts = (id: string, question: ApprovalQuestion) => ({
    id,
    turnId: question.turnId,
    toolCallId: question.toolCallId,
    toolName: question.toolName,
    action: question.action,
    display: question.display,
    toolInput: question.toolInput,
  });

  /** Takes the approval off the list and returns its closing records. */
  function close(entry: Waiting, answer: ApprovalAnswer, cause?: EndCause): Draft[] {
    const { approval, question } = entry;
    clearTimeout(entry.timer);
    waiting.delete(approval.approval_id);
    remember(approval.approval_id, cause === 'timed_out' ? 'expired' : 'resolved');
    const remembered = answer.decision === 'approved' && answer.scope === 'session' ? question.rule : undefined;
    const extras = { ...(remembered ? { rule: remembered } : {}), ...(cause ? { cause } : {}) };
    const drafts = [
      ...deps.work.change({ pending_interaction: waiting.size > 0 ? 'approval' : 'none' }),
      event(
        question.agentId,
        'event.approval.resolved',
        {
          approval_id: approval.approval_id,
          decision: answer.decision,
          ...(answer.scope ? { scope: answer.scope } : {}),
          ...(answer.feedback ? { feedback: answer.feedback } : {}),
          ...(answer.selectedLabel ? { selected_label: answer.selectedLabel } : {}),
          resolved_at: iso(deps.now()),
        },
        Object.keys(extras).length > 0 ? extras : undefined,
      ),
    ];
    if (cause === 'turn_ended' || cause === 'disposed') return drafts;
    drafts.push(
      event(question.agentId, 'permission.approval.resolved', {
        ...facts(approval.approval_id, question),
        decision: answer.decision,
        ...(answer.scope ? { scope: answer.scope } : {}),
        ...(answer.feedback ? { feedback: answer.feedback } : {}),
        ...(answer.selectedLabel ? { selectedLabel: answer.selectedLabel } : {}),
      }),
    );
    return drafts;
  }

  function expire(id: string) {
    const entry = waiting.get(id);
    if (!entry || entry.signal.aborted) return;
    const answer: ApprovalAnswer = { decision: 'cancelled', feedback: 'approval timed out' };
    deps.append(close(entry, answer, 'timed_out'));
    entry.settle(answer);
  }

  return {
    ask(question, signal) {
      signal.throwIfAborted();
      const id = `approval_${randomUUID()}`;
      const created = deps.now();
      const approval: Approval = {
        approval_id: id,
        session_id: deps.sessionId,
        agent_id: question.agentId,
        turn_id: question.turnId,
        tool_call_id: question.toolCallId,
        tool_name: question.toolName,
        action: question.action,
        tool_input_display: question.display,
        created_at: iso(created),
        expires_at: iso(created + deps.lifetimeMs),
      };
      const answer = new Promise<ApprovalAnswer>((resolve, reject) => {
        const onAbort = () => reject(signal.reason);
        signal.addEventListener('abort', onAbort, { once: true });
        const timer = setTimeout(() => expire(id), deps.lifetimeMs);
        timer.unref();
        waiting.set(id, {
          approval,
          question,
          signal,
          timer,
          settle(given) {
            signal.removeEventListener('abort', onAbort);
            resolve(given);
          },
        });
      });
      deps.append([
        event(question.agentId, 'permission.approval.requested', facts(id, question)),
        ...deps.work.change({ pending_interaction: 'approval' }),
        event(question.agentId, 'event.approval.requested', approval),
      ]);
      return { id, answer };
    },

    pending: () => [...waiting.values()].map((entry) => entry.approval),

    resolve(id, body) {
      const entry = waiting.get(id);
      if (!entry || entry.signal.aborted) {
        const how = entry ? 'resolved' : ended.get(id);
        if (how === 'resolved') {
          throw new ServiceError('approval.already_resolved', `approval ${id} already resolved`, {
            data: { resolved: false },
          });
        }
        if (how === 'expired') throw new ServiceError('approval.expired', `approval ${id} expired`);
        throw new ServiceError('approval.not_found', `approval ${id} not found`);
      }
      const answer: ApprovalAnswer = {
        decision: body.decision,
        ...(body.scope ? { scope: body.scope } : {}),
        ...(body.feedback ? { feedback: body.feedback } : {}),
        ...(body.selected_label ? { selectedLabel: body.selected_label } : {}),
      };
      const resolved_at = iso(deps.now());
      deps.append(close(entry, answer));
      entry.settle(answer);
      return { resolved_at };
    },

    endTurn(agentId, turnId) {
      const left = [...waiting.values()].filter(
        (entry) => entry.question.agentId === agentId && entry.question.turnId === turnId,
      );
      return left.flatMap((entry) => close(entry, { decision: 'cancelled' }, 'turn_ended'));
    },
  };
}
