/** What a tool's own class decides when no rule and no mode did. */
import { isInsideAny } from '#server/files/paths.ts';
import type { FileAccess, PermissionPlaces, PermissionStep } from '../decision.ts';

async function allInside(
  files: readonly FileAccess[],
  folders: readonly string[],
  { runtime }: PermissionPlaces,
): Promise<boolean> {
  for (const { real } of files) if (!(await isInsideAny(real, folders, runtime))) return false;
  return true;
}

const OUTSIDE = 'The path lies outside the workspace.';

export const toolClass: PermissionStep = async ({ permission }, context) => {
  const { cwd, additionalDirs, sessionDir, skillDirs } = context.places;
  switch (permission) {
    case 'free':
      return { kind: 'approve' };
    case 'read': {
      const readable = [cwd, ...additionalDirs, sessionDir, ...skillDirs];
      return (await allInside(await context.files(), readable, context.places))
        ? { kind: 'approve' }
        : context.ask(OUTSIDE);
    }
    case 'write': {
      if (process.platform === 'win32') return undefined;
      const targets = (await context.files()).filter(({ writes }) => writes);
      if (targets.length === 0) return undefined;
      // What is under git can be looked at and taken back.
      if (!(await context.repository())?.inWorkTree) return context.ask('The workspace is not under git.');
      return (await allInside(targets, [cwd, ...additionalDirs], context.places))
        ? { kind: 'approve' }
        : context.ask(OUTSIDE);
    }
    default:
      return undefined;
  }
};
