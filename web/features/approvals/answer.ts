/** Answers an approval from its card. */
import { shallowReactive, shallowRef, type ShallowRef } from 'vue';
import { ApiError, type ResolveApproval } from '@service-code/client';
import { t } from '../../messages/messages.ts';
import { useWorkbench } from '../../stores/workbench.ts';
import type { Approval } from './open.ts';

/** `approval.not_found`, `approval.already_resolved`, `approval.expired`. */
const ANSWERED_ELSEWHERE = [40404, 40902, 41001];

const closed = shallowReactive(new Set<string>());

/** Whether an answer was refused for that reason: the card closes without waiting for the event. */
export const isAnsweredElsewhere = ({ approval_id }: Pick<Approval, 'approval_id'>): boolean => closed.has(approval_id);

export interface ApprovalAnswer {
  /** Whether the answer is in flight or accepted; the approval's event then removes the card. */
  sending: ShallowRef<boolean>;
  answer(body: ResolveApproval): Promise<void>;
}

/** Answers the approval of a card. */
export function useAnswer(approval: () => Approval): ApprovalAnswer {
  const { client, problem, report } = useWorkbench();
  const sending = shallowRef(false);
  return {
    sending,
    async answer(body) {
      if (sending.value) return;
      sending.value = true;
      const { session_id, approval_id } = approval();
      try {
        await client.rest.resolveApproval(session_id, approval_id, body);
      } catch (error) {
        sending.value = false;
        if (!(error instanceof ApiError && ANSWERED_ELSEWHERE.includes(error.code))) return report(error);
        closed.add(approval_id);
        problem.value = t('approvals.elsewhere');
      }
    },
  };
}
