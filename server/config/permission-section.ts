/** The `[permission]` section: its list of rules, the shorthands that are merged into it, and the patching of it. */
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { ErrorDetail } from '#server/errors/service-error.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { domainSchemas, permissionRuleConfigSchema } from '#schema/config/config.ts';
import { isTable, subTable, tableOf, toTable } from './document.ts';
import type { TomlTable } from './document.ts';
import { parsePattern } from './permission-pattern.ts';

type Members = Record<string, unknown>;

/** In merge order, with the decision of the list's entries. */
const LISTS = [
  ['rules', undefined],
  ['deny', 'deny'],
  ['allow', 'allow'],
  ['ask', 'ask'],
] as const;
const LIST_NAMES: string[] = LISTS.map(([name]) => name);
const RULE_MEMBERS = ['decision', 'pattern', 'scope', 'reason', 'tool', 'match'];

const checkedRule = permissionRuleConfigSchema.superRefine(({ pattern }, context) => {
  try {
    parsePattern(pattern);
  } catch (error) {
    context.addIssue({ code: 'custom', path: ['pattern'], message: errorMessage(error) });
  }
});

/** The section in the domain's form, with patterns validated. */
export const permissionSectionSchema = domainSchemas.permission.extend({ rules: z.array(checkedRule).optional() });

/** Normalizes rules to one list: `rules`, then the shorthands `deny`, `allow`, `ask`. */
export function mergedRules(section: unknown): unknown {
  if (!isTable(section)) return section;
  const given = LISTS.filter(([name]) => section[name] !== undefined);
  if (given.length === 0) return {};
  const rules = given.flatMap(([name, decision]) => {
    const list = section[name];
    // A value that is no list is retained, so that validation reports it.
    return Array.isArray(list) ? list.map((entry: unknown) => ruleOf(entry, decision)) : [list];
  });
  return { rules };
}

/**
 * Members of the file's section without effect: a misspelt `match` would create a rule of the bare tool name, a
 * misspelt list no rules.
 */
export function unknownMembers(section: unknown): string[] {
  if (!isTable(section)) return [];
  const lists = LIST_NAMES.flatMap((name) => {
    const list = section[name];
    return Array.isArray(list) ? list.map((entry: unknown, index) => [`${name}.${index}`, entry] as const) : [];
  });
  const unknown = (table: unknown, known: string[]) =>
    isTable(table) ? Object.keys(table).filter((key) => !known.includes(key)) : [];
  return [
    ...unknown(section, LIST_NAMES).map((key) => `permission.${key}`),
    ...lists.flatMap(([path, entry]) => unknown(entry, RULE_MEMBERS).map((key) => `permission.${path}.${key}`)),
  ];
}

/** Converts `tool` with `match` or `pattern` to one pattern. */
function ruleOf(entry: unknown, listed: string | undefined): unknown {
  if (!isTable(entry)) return entry;
  const { tool, match, pattern, decision, ...rest } = entry;
  const args = match ?? pattern;
  const text = typeof tool !== 'string' ? pattern : typeof args === 'string' ? `${tool}(${args})` : tool;
  return { decision: listed ?? decision, pattern: text, ...rest };
}

/**
 * Merges a patch into the section, in file spelling: `rules` replaces, then the other lists are added without
 * duplicates. Its author relies on each rule, so every unknown member is reported as a detail instead of dropped.
 * Returns the section unmodified when there is no change or a detail was found.
 */
export function patchPermission(document: TomlTable, change: Members, details: ErrorDetail[]): TomlTable | undefined {
  const section = subTable(document, 'permission');
  const problems = Object.keys(change)
    .filter((key) => !LIST_NAMES.includes(key))
    .map((key) => ({ path: `permission.${key}`, message: 'Unrecognized key' }));
  const lists = new Map<string, Members[]>();
  for (const [name, decision] of LISTS) {
    const list = change[name];
    if (list === undefined || list === null) continue;
    if (Array.isArray(list))
      lists.set(
        name,
        list.flatMap((entry, index) => givenRule(entry, decision, `permission.${name}.${index}`, problems)),
      );
    else problems.push({ path: `permission.${name}`, message: 'Invalid input: expected array' });
  }
  details.push(...problems);
  if (problems.length > 0) return section;

  const rules = keptRules(section, change, lists.get('rules'));
  for (const [name] of LISTS.slice(1)) {
    for (const rule of lists.get(name) ?? []) if (!rules.some((known) => sameRule(known, rule))) rules.push(rule);
  }
  const { rules: _rules, deny: _deny, allow: _allow, ask: _ask, ...rest } = section ?? {};
  const removed = change.rules === null && rules.length === 0;
  const written = toTable({ ...rest, ...(removed ? {} : { rules }) });
  if (isDeepStrictEqual(rulesIn(section), rulesIn(written))) return section;
  return Object.keys(written).length > 0 ? written : undefined;
}

/** The remaining rules: those of the section, or their replacement; a list set to null is removed. */
function keptRules(section: TomlTable | undefined, change: Members, replacing: Members[] | undefined): unknown[] {
  if (replacing) return [...replacing];
  if (change.rules === null) return [];
  const kept = tableOf(Object.entries(section ?? {}).filter(([name]) => change[name] !== null));
  const merged = mergedRules(kept);
  return isTable(merged) && Array.isArray(merged.rules) ? merged.rules : [];
}

/** Normalizes one rule of a patch; empty when it is invalid. */
function givenRule(entry: unknown, listed: string | undefined, path: string, problems: ErrorDetail[]): Members[] {
  if (!isTable(entry)) {
    problems.push({ path, message: 'Invalid input: expected object' });
    return [];
  }
  const given = tableOf(Object.entries(entry).filter(([, value]) => value !== null));
  const found: ErrorDetail[] = Object.keys(given)
    .filter((key) => !RULE_MEMBERS.includes(key))
    .map((key) => ({ path: `${path}.${key}`, message: 'Unrecognized key' }));
  if (given.match !== undefined && given.tool === undefined) {
    found.push({ path: `${path}.match`, message: 'needs tool' });
  }
  if (given.match !== undefined && given.pattern !== undefined) {
    found.push({ path: `${path}.pattern`, message: 'stands for the same as match' });
  }
  if (listed !== undefined && given.decision !== undefined && given.decision !== listed) {
    found.push({ path: `${path}.decision`, message: `contradicts the list "${listed}"` });
  }
  const rule = ruleOf(given, listed);
  const parsed = found.length === 0 ? checkedRule.safeParse(rule) : undefined;
  if (parsed?.success === false) {
    found.push(
      ...parsed.error.issues.map((issue) => ({ path: [path, ...issue.path].join('.'), message: issue.message })),
    );
  }
  problems.push(...found);
  return found.length === 0 && isTable(rule) ? [rule] : [];
}

const sameRule = (one: unknown, other: unknown): boolean =>
  isDeepStrictEqual(checkedRule.safeParse(one).data ?? one, checkedRule.safeParse(other).data ?? other);

/** Form for comparison: an invalid section differs from every valid one. */
const rulesIn = (section: TomlTable | undefined): unknown => {
  const merged = mergedRules(section ?? {});
  const parsed = permissionSectionSchema.safeParse(merged);
  return parsed.success ? (parsed.data.rules ?? []) : { invalid: merged };
};
