/** Approvals and questions of all agents: the pending ones, and how the last others ended. */
import type { Approval, Question } from '#schema/rest/interaction.ts';
import type { Stored } from '../texts.ts';
import type { Projection } from './projection.ts';

/** Number of stored ends, which distinguish "already resolved" and "expired" from "never existed". */
const REMEMBERED_ENDS = 256;

export interface PendingApproval {
  agent: string;
  approval: Stored<Approval>;
}

export interface PendingQuestion {
  agent: string;
  question: Stored<Question>;
  /** Set for a background question, which outlives its turn. */
  taskId?: string;
}

export interface InteractionsState {
  /** Oldest first, by id. */
  approvals: Map<string, PendingApproval>;
  questions: Map<string, PendingQuestion>;
  /** Outcomes of ended approvals and questions by id, oldest first. */
  ended: Map<string, 'resolved' | 'expired'>;
}

function end(state: InteractionsState, id: string, cause: string | undefined): void {
  state.approvals.delete(id);
  state.questions.delete(id);
  state.ended.set(id, cause === 'timed_out' ? 'expired' : 'resolved');
  const oldest = state.ended.keys().next();
  if (state.ended.size > REMEMBERED_ENDS && !oldest.done) state.ended.delete(oldest.value);
}

export const interactionsProjection: Projection<InteractionsState> = {
  initial: () => ({ approvals: new Map(), questions: new Map(), ended: new Map() }),
  apply(state, record) {
    switch (record.type) {
      case 'event.approval.requested': {
        const { seq: _seq, agent, type: _type, x: _x, ...approval } = record;
        state.approvals.set(approval.approval_id, { agent, approval });
        break;
      }
      case 'event.approval.resolved':
        end(state, record.approval_id, record.x?.cause);
        break;
      case 'event.question.requested': {
        const { seq: _seq, agent, type: _type, x, ...question } = record;
        const taskId = x?.taskId === undefined ? {} : { taskId: x.taskId };
        state.questions.set(question.question_id, { agent, question, ...taskId });
        break;
      }
      case 'event.question.answered':
      case 'event.question.dismissed':
        end(state, record.question_id, record.x?.cause);
        break;
    }
  },
};
