/** Decisions of the tool itself: a review by a person, and after rules and modes the decision of its class. */
import { isInWorkspace } from '#server/runtime/path-policy.ts';
import type { FileAccess, PermissionScope, PermissionStep } from '../decision.ts';
import { bareRepositoryCheck } from './git-paths.ts';

async function allInside(
  files: readonly FileAccess[],
  places: PermissionScope,
  more: readonly string[] = [],
): Promise<boolean> {
  for (const { real } of files) if (!(await isInWorkspace(real, places, more))) return false;
  return true;
}

const OUTSIDE = 'The path lies outside the workspace.';

/** Asks regardless of rules: only a person can answer, and no rule could be remembered for the session. */
export const reviews: PermissionStep = ({ review }) =>
  review ? { kind: 'ask', reason: 'The call asks people for their decision.' } : undefined;

export const toolClass: PermissionStep = async ({ permission }, context) => {
  const { places } = context;
  switch (permission) {
    case 'free':
      return { kind: 'approve' };
    case 'read': {
      const files = await context.files();
      const own = [places.sessionDir, ...(places.ancestorDirs ?? [])];
      if (await allInside(files, places, own)) return { kind: 'approve' };
      const readable = [...own, ...(await places.readableDirs())];
      return (await allInside(files, places, readable)) ? { kind: 'approve' } : context.ask(OUTSIDE);
    }
    case 'write': {
      if (process.platform === 'win32') return undefined;
      const targets = (await context.files()).filter(({ writes }) => writes);
      if (targets.length === 0) return undefined;
      // Changes under git can be reviewed and reverted.
      if (!(await context.repository())?.inWorkTree) return context.ask('The workspace is not under git.');
      if (!(await allInside(targets, places))) return context.ask(OUTSIDE);
      return { kind: 'approve', ...bareRepositoryCheck(targets, context) };
    }
    default:
      return undefined;
  }
};
