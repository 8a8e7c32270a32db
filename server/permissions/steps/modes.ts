/** Decisions of the permission modes. */
import type { Decision, PermissionStep } from '../decision.ts';

const denied = (where: string): Decision => ({
  kind: 'deny',
  reason: `The path lies in ${where}, which is not written in auto mode. Ask the user to change it.`,
});

/** Approves all other calls in auto mode; only files that control what auto mode may do, in any project, are denied. */
export const autoMode: PermissionStep = async (_call, context) => {
  if (context.mode !== 'auto') return undefined;
  const written = (await context.files()).filter(({ writes }) => writes);
  if (written.length > 0) {
    const { isHome } = await context.serverFiles();
    if (written.some(({ path, real }) => isHome(path) || isHome(real))) return denied("the server's own folder");
    const { isUsers } = await context.controlPaths();
    if (written.some(({ path, real }) => isUsers(path) || isUsers(real))) {
      return denied("a folder of the user's own agents and instructions");
    }
  }
  return { kind: 'approve' };
};

export const yoloMode: PermissionStep = (_call, { mode }) => (mode === 'yolo' ? { kind: 'approve' } : undefined);
