/** Configured permission rules, compiled. */
import type { PermissionRuleConfig } from '#schema/config/config.ts';
import type { Matcher } from '#server/files/globs.ts';
import type { PathPattern } from './path-rules.ts';

export interface RuleArguments {
  /** The argument as written, without the `!`. */
  text: string;
  negated: boolean;
  matchesText: Matcher;
  path(): PathPattern;
}

export interface Rule {
  /** The rule's text, for messages. */
  pattern: string;
  scope: PermissionRuleConfig['scope'];
  reason: string | undefined;
  matchesTool: Matcher;
  /** Undefined for the bare tool name, which applies to every call of the tool. */
  args: RuleArguments | undefined;
}

/** Rules by decision, in the order of the configuration. */
export interface RuleSet {
  deny: Rule[];
  ask: Rule[];
  allow: Rule[];
}
