/** Answers an approval from its card. */
import { shallowRef, type ShallowRef } from 'vue';
import { ApiError } from '../../client/errors.ts';
import type { ResolveApproval } from '../../client/types.ts';
import { useWorkbench } from '../../stores/workbench.ts';
import type { Approval } from './open.ts';

/** Codes of an approval that is already answered or whose turn is over; the event removes the card. */
const ALREADY_OVER = [40404, 40902, 41001];

export interface ApprovalAnswer {
  /** Whether the answer is in flight or accepted; the approval's event then removes the card. */
  sending: ShallowRef<boolean>;
  answer(body: ResolveApproval): Promise<void>;
}

/** Answers the approval of a card. */
export function useAnswer(approval: () => Approval): ApprovalAnswer {
  const { client, report } = useWorkbench();
  const sending = shallowRef(false);
  return {
    sending,
    async answer(body) {
      sending.value = true;
      try {
        await client.rest.resolveApproval(approval().session_id, approval().approval_id, body);
      } catch (error) {
        if (!(error instanceof ApiError && ALREADY_OVER.includes(error.code))) report(error);
        sending.value = false;
      }
    },
  };
}
