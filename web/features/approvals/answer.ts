/** Answering an approval from its card. */
import { shallowRef, type ShallowRef } from 'vue';
import { ApiError } from '../../client/errors.ts';
import type { ResolveApproval } from '../../client/types.ts';
import { useWorkbench } from '../../stores/workbench.ts';
import type { Approval } from './open.ts';

/** Answers that mean somebody else was first or the turn is over; the event takes the card away. */
const ALREADY_OVER = [40404, 40902, 41001];

export interface ApprovalAnswer {
  /** It is on its way; the event of its end takes the card away. */
  sending: ShallowRef<boolean>;
  answer(body: ResolveApproval): Promise<void>;
}

/** For the card of that approval. */
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
