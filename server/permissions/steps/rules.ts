/** The steps of configured and remembered rules, and of command lines that may hide a command that a rule names. */
import type { RememberedRule } from '#server/journal/projections/context.ts';
import type { CommandCall } from '../command-call.ts';
import type { Decision, PermissionCall, PermissionContext, PermissionStep } from '../decision.ts';
import { rememberedCommand } from '../remembered.ts';
import { allowsAlone, firstBlocking, isWholeLine } from '../rules.ts';
import type { Rule } from '../rule-set.ts';
import { lineApproval } from './git-lines.ts';

export const denyRules: PermissionStep = async (call, context) => {
  const denied = await firstBlocking(context.rules.deny, call, context);
  if (!denied) return undefined;
  const why = denied.reason ? `: ${denied.reason}` : '';
  return { kind: 'deny', reason: `Denied by the permission rule ${denied.pattern}${why}` };
};

export const askRules: PermissionStep = async (call, context) => {
  const asking = await firstBlocking(context.rules.ask, call, context);
  return asking && context.ask(asking.reason ?? `The permission rule ${asking.pattern} asks.`);
};

/** Allow rules of the scope `session-runtime`, which precede ask rules like remembered ones. */
export const rememberedRules: PermissionStep = async (call, context) => {
  const rules = context.rules.allow.filter(({ scope }) => scope === 'session-runtime');
  return approval(call, context, rules);
};

/** All allow rules together: each simple command of a line needs a rule, from any scope. */
export const allowRules: PermissionStep = (call, context) => approval(call, context, context.rules.allow);

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

/** Whether this exact call was approved for the session. */
async function isRemembered(context: PermissionContext): Promise<boolean> {
  if (context.remembered.length === 0) return false;
  const mine = await context.rememberedAs();
  return mine !== undefined && (await holds(mine, context));
}

/** A command remembered without a directory is valid for the session's directory. */
async function holds({ rule, dir }: RememberedRule, { remembered, command, realCwd }: PermissionContext) {
  const fallback = command && (await realCwd());
  return remembered.some((known) => known.rule === rule && (known.dir ?? fallback) === dir);
}

async function approval(
  call: PermissionCall,
  context: PermissionContext,
  configured: readonly Rule[],
): Promise<Decision | undefined> {
  const rules = configured.filter(({ matchesTool }) => matchesTool(call.toolName));
  const { command } = context;
  // A bare name allows every line, so its commands are not checked.
  const anyCall = rules.some(({ args }) => args === undefined);
  if (command) {
    const allowed = anyCall || (await isRemembered(context)) || (await commandAllowed(call, context, command, rules));
    return allowed ? lineApproval(command, context, { anyLine: anyCall }) : undefined;
  }
  if (anyCall) return { kind: 'approve' };
  if (await isRemembered(context)) return { kind: 'approve' };
  for (const { args } of rules) if (args && (await allowsAlone(args, call, context))) return { kind: 'approve' };
  return undefined;
}

/**
 * Configured rules apply to commands that run in the workspace, remembered ones to the directory they were approved
 * for. A rule `!…` allows no line: commands that it does not match are not known to be harmless. A git command that
 * writes a file named in the line needs a rule that equals the line: a pattern is meant for printing commands.
 */
async function commandAllowed(
  { toolName }: PermissionCall,
  context: PermissionContext,
  command: CommandCall,
  rules: readonly Rule[],
): Promise<boolean> {
  const remembers = context.remembered.some(({ rule }) => rule.startsWith(`${toolName}(`));
  if (rules.length === 0 && !remembers) return false;
  const directory = await command.directory();
  const inForce = directory.inWorkspace ? rules.flatMap(({ args }) => (args && !args.negated ? [args] : [])) : [];
  if (inForce.some((args) => isWholeLine(args, command.line))) return true;
  if (directory.lost || (inForce.length === 0 && !remembers)) return false;
  const { plain, commands } = await command.reading();
  if (!plain || (await command.gitWritesOutput())) return false;
  for (const text of commands) {
    if (inForce.some(({ matchesText }) => matchesText(text))) continue;
    if (!(await holds(rememberedCommand(toolName, text, directory.path), context))) return false;
  }
  return true;
}
