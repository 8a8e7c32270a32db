/** What a permission mode decides by itself. */
import type { PermissionStep } from '../decision.ts';

/** Approves the rest in auto mode; only the server's own files stay out of reach, which decide what auto may do. */
export const autoMode: PermissionStep = async (_call, context) => {
  if (context.mode !== 'auto') return undefined;
  const written = (await context.files()).filter(({ writes }) => writes);
  if (written.length > 0) {
    const { isHome } = await context.serverFiles();
    if (written.some(({ path, real }) => isHome(path) || isHome(real))) {
      return {
        kind: 'deny',
        reason:
          "The path lies in the server's own folder, which is not written in auto mode. Ask the user to change it.",
      };
    }
  }
  return { kind: 'approve' };
};

export const yoloMode: PermissionStep = (_call, { mode }) => (mode === 'yolo' ? { kind: 'approve' } : undefined);
