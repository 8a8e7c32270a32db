/** The session's goal as events tell it. No snapshot holds it, so it is read anew behind each. */
import type { DurableFrame } from '../../client/types.ts';
import type { ViewPart } from '../../state/view-part.ts';

export type Goal = NonNullable<Extract<DurableFrame, { type: 'goal.updated' }>['payload']['snapshot']>;

export interface GoalPart {
  /** Told since the last snapshot; null is none, undefined nothing yet. */
  told: Goal | null | undefined;
  /** Snapshots so far. */
  snapshots: number;
}

export const goalPart: ViewPart<GoalPart> = {
  name: 'goal',
  initial: { told: undefined, snapshots: 0 },
  snapshot: ({ snapshots }) => ({ told: undefined, snapshots: snapshots + 1 }),
  event: (state, frame) => (frame.type === 'goal.updated' ? { ...state, told: frame.payload.snapshot } : state),
};
