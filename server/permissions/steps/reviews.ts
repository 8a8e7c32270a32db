/** Calls that ask people for their decision. */
import type { PermissionStep } from '../decision.ts';

/** Asks regardless of rules: only a person can answer, and no rule could be remembered for the session. */
export const reviews: PermissionStep = ({ review }) =>
  review ? { kind: 'ask', reason: 'The call asks people for their decision.' } : undefined;
