/** Compiles the configured rules and decides whether one applies to a call. */
import { parsePattern } from '#server/config/permission-pattern.ts';
import type { PermissionRuleConfig } from '#schema/config/config.ts';
import { escapeGlob, textGlob } from '#server/files/globs.ts';
import type { CommandReading } from './command-line/command-line-reader.ts';
import type { PermissionCall, PermissionContext } from './decision.ts';
import { once } from '#server/memo/once.ts';
import { compilePathPattern, pathFits } from './path-rules.ts';
import type { PatternBase } from './path-rules.ts';
import type { Rule, RuleArguments, RuleSet } from './rule-set.ts';

/** Compiles rules for a working directory. Throws for a pattern that the configuration would have refused. */
export function compileRules(rules: readonly PermissionRuleConfig[], place: PatternBase): RuleSet {
  const set: RuleSet = { deny: [], ask: [], allow: [] };
  for (const { decision, pattern, scope, reason } of rules) {
    const { matchesTool, args, negated } = parsePattern(pattern);
    set[decision].push({
      pattern,
      scope,
      reason,
      matchesTool,
      args:
        args === undefined
          ? undefined
          : { text: args, negated, matchesText: textGlob(args), path: once(() => compilePathPattern(args, place)) },
    });
  }
  return set;
}

/** Memoizes compiled rules by configuration object and directory; entries are garbage-collected with their key. */
export function createRuleCache(): (rules: readonly PermissionRuleConfig[], place: PatternBase) => RuleSet {
  const compiled = new WeakMap<readonly PermissionRuleConfig[], Map<string, RuleSet>>();
  return (rules, place) => {
    const key = `${place.cwd}\0${place.runtime.homeDirectory()}`;
    const byDirectory = compiled.get(rules) ?? new Map<string, RuleSet>();
    compiled.set(rules, byDirectory);
    const set = byDirectory.get(key) ?? compileRules(rules, place);
    byDirectory.set(key, set);
    return set;
  };
}

const isLiteral = ({ text, negated }: RuleArguments, subject: string) =>
  !negated && (text === subject || text === escapeGlob(subject));

/** Whether a deny or ask rule applies to the call; in doubt it does. */
export async function blocks(rule: Rule, call: PermissionCall, context: PermissionContext): Promise<boolean> {
  const { subject, toolName } = call;
  const { args } = rule;
  if (!rule.matchesTool(toolName)) return false;
  if (!args) return true;
  if (subject.text === undefined) return false;
  switch (subject.match) {
    case 'command':
      return context.command !== undefined && commandBlocked(args, await context.command.reading());
    case 'literal':
      return isLiteral(args, subject.text);
    case 'glob':
      return args.matchesText(subject.text) !== args.negated;
    case 'path':
      for (const file of await context.files()) {
        const fits = await pathFits(args.path(), file, args.negated ? 'both' : 'either', context.places.runtime);
        if (fits !== args.negated) return true;
      }
      return false;
  }
}

/**
 * A rule `!…` blocks every line except plain ones whose commands all match. Any other rule blocks lines that contain a
 * matching command, however nested.
 */
function commandBlocked({ negated, matchesText }: RuleArguments, reading: CommandReading): boolean {
  if (negated) return !reading.plain || !reading.commands.every(matchesText);
  return reading.guarded.some(matchesText);
}

/** Returns the first of the rules that applies. */
export async function firstBlocking(
  rules: readonly Rule[],
  call: PermissionCall,
  context: PermissionContext,
): Promise<Rule | undefined> {
  for (const rule of rules) if (await blocks(rule, call, context)) return rule;
  return undefined;
}

/** Whether a single allow rule with arguments approves the call; command lines are handled separately. */
export async function allowsAlone(
  args: RuleArguments,
  { subject }: PermissionCall,
  context: PermissionContext,
): Promise<boolean> {
  if (subject.text === undefined) return false;
  switch (subject.match) {
    case 'command':
      return false;
    case 'literal':
      return isLiteral(args, subject.text);
    case 'glob':
      return args.matchesText(subject.text) !== args.negated;
    case 'path': {
      const files = await context.files();
      for (const file of files) {
        const fits = await pathFits(args.path(), file, args.negated ? 'either' : 'both', context.places.runtime);
        if (fits === args.negated) return false;
      }
      return files.length > 0;
    }
  }
}

/** Whether the rule's argument equals the line. */
export const isWholeLine = (args: RuleArguments, line: string): boolean => isLiteral(args, line);
