/** Command lines that may hide a command that a rule names. */
import type { PermissionStep } from '../decision.ts';
import { isRemembered } from './rules.ts';

/**
 * While a deny or ask rule matches command lines, no mode approves an unreadable line: it needs approval, unless a
 * person has approved this exact line for the session, and is denied in auto mode, which asks no person.
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
