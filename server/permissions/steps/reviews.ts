/** Calls that are a question to people. */
import type { PermissionStep } from '../decision.ts';

/** Whatever allows the tool, the answer is theirs to give; there is nothing that "for the session" could remember. */
export const reviews: PermissionStep = ({ review }) =>
  review ? { kind: 'ask', reason: 'The call asks people for their decision.' } : undefined;
