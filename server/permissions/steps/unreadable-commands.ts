/** Command lines in which a command that a rule names may hide. */
import type { PermissionStep } from '../decision.ts';
import { isRemembered } from './rules.ts';

/**
 * While a deny or ask rule looks into command lines, one that cannot be read is not approved by a mode: it is asked
 * about, unless somebody has seen and approved this very line, and denied where nobody is asked.
 */
export const unreadableCommands: PermissionStep = async ({ toolName }, context) => {
  const { command, rules, mode } = context;
  if (!command) return undefined;
  const looked = [...rules.deny, ...rules.ask].some(({ args, matchesTool }) => args && matchesTool(toolName));
  if (!looked || !(await command.reading()).unreadable) return undefined;
  const reason = 'The command line could not be read, so the permission rules could not be applied to it.';
  if (mode === 'auto') return { kind: 'deny', reason: `${reason} Write it in a simpler way.` };
  return (await isRemembered(context)) ? undefined : context.ask(reason);
};
