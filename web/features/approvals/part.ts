/** The approvals that are open, of all agents. */
import type { Approval } from '../../client/types.ts';
import type { ViewPart } from '../../state/view-part.ts';

export const approvalsPart: ViewPart<readonly Approval[]> = {
  name: 'approvals',
  initial: [],
  snapshot: (_, snapshot) => snapshot.pending_approvals,
  event(open, frame) {
    if (frame.type === 'event.approval.requested') {
      const { payload } = frame;
      return open.some(({ approval_id }) => approval_id === payload.approval_id) ? open : [...open, payload];
    }
    if (frame.type === 'event.approval.resolved') {
      return open.filter(({ approval_id }) => approval_id !== frame.payload.approval_id);
    }
    return open;
  },
};
