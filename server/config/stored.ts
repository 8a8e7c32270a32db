/** Reading the parsed file: each section on its own, with diagnostics (models.md §2.1, §2.3). */
import { z } from 'zod';
import { errorMessage } from '#server/errors/service-error.ts';
import { parsePattern } from '#server/permissions/patterns.ts';
import { domainSchemas } from '#schema/config.ts';
import { isTable, subTable, tableOf } from './document.ts';
import type { TomlTable } from './document.ts';
import { filePath, sectionToWire, toSnake } from './key-case.ts';

const checkedPermission = domainSchemas.permission.superRefine(({ rules = [] }, context) => {
  for (const [index, { pattern }] of rules.entries()) {
    try {
      parsePattern(pattern);
    } catch (error) {
      context.addIssue({ code: 'custom', path: ['rules', index, 'pattern'], message: errorMessage(error) });
    }
  }
});

const storedSchema = z.object({ ...domainSchemas, permission: checkedPermission }).partial();

/** The file layer, domains in wire spelling; a section that is absent or invalid is absent here. */
export type StoredConfig = z.infer<typeof storedSchema>;
export type Domain = keyof StoredConfig;

export interface ConfigWarning {
  /** Domain name, camelCase. */
  domain?: string;
  message: string;
}

export interface SectionIssue {
  /** In file spelling. */
  path: string;
  message: string;
}

export const domains = storedSchema.keyof().options;

/** A domain's value in the file, converted, shorthands merged; undefined when the file has none. */
export function domainValue(document: TomlTable, domain: Domain): unknown {
  const section = toSnake(domain);
  if (domain === 'background') {
    const both = [document.background, document.task].filter((value) => value !== undefined);
    if (both.length > 1 && both.every(isTable)) {
      return sectionToWire('task', { ...subTable(document, 'background'), ...subTable(document, 'task') });
    }
    return sectionToWire('task', document.task ?? document.background);
  }
  if (domain === 'permission') return mergedRules(document.permission);
  return sectionToWire(section, document[section]);
}

/** Rules in their one form: `rules`, then the shorthands `deny`, `allow`, `ask` (engine.md §6.3). */
function mergedRules(value: unknown): unknown {
  if (!isTable(value)) return value;
  const lists = [value.rules, value.deny, value.allow, value.ask];
  if (lists.every((list) => list === undefined)) return {};
  const named = [undefined, 'deny', 'allow', 'ask'];
  const rules = lists.flatMap((list, index) => {
    if (list === undefined) return [];
    // What is no list stays, so that validation names it.
    if (!Array.isArray(list)) return [list];
    return list.map((entry: unknown) => ruleOf(entry, named[index]));
  });
  return { rules };
}

function ruleOf(entry: unknown, decision: string | undefined): unknown {
  if (!isTable(entry)) return entry;
  const { tool, match, pattern } = entry;
  const args = match ?? pattern;
  const text = typeof tool !== 'string' ? args : typeof args === 'string' ? `${tool}(${args})` : tool;
  return { ...entry, ...(decision !== undefined && { decision }), pattern: text };
}

/** What is wrong with a domain's value, in file spelling; empty when it is valid. */
export function domainIssues(domain: Domain, value: unknown): SectionIssue[] {
  const parsed = storedSchema.shape[domain].safeParse(value);
  if (parsed.success) return [];
  return parsed.error.issues.map((issue) => ({
    path: filePath(toSnake(domain), issue.path),
    message: issue.message,
  }));
}

const DEPRECATED: [domain: Domain, section: string, member: string | undefined, instead: string][] = [
  ['loopControl', 'loop_control', 'max_retries_per_step', 'loop_control.max_attempts_per_step'],
  ['loopControl', 'loop_control', 'max_steps_per_run', 'loop_control.max_steps_per_turn'],
  ['thinking', 'default_thinking', undefined, 'thinking.enabled'],
  ['thinking', 'thinking', 'mode', 'thinking.enabled'],
];

function deprecatedKeys(document: TomlTable): ConfigWarning[] {
  return DEPRECATED.flatMap(([domain, section, member, instead]) => {
    const present = member === undefined ? section in document : member in (subTable(document, section) ?? tableOf([]));
    const key = member === undefined ? section : `${section}.${member}`;
    return present ? [{ domain, message: `${key} is deprecated and ignored; use ${instead}` }] : [];
  });
}

/** Reads every section; one that is invalid is left out with a warning. */
export function readStored(document: TomlTable): { stored: StoredConfig; warnings: ConfigWarning[] } {
  const values: Record<string, unknown> = {};
  const warnings: ConfigWarning[] = [];
  for (const domain of domains) {
    const value = domainValue(document, domain);
    if (value === undefined) continue;
    const [issue] = domainIssues(domain, value);
    if (issue) warnings.push({ domain, message: `${issue.path}: ${issue.message}; the section is ignored` });
    else values[domain] = value;
  }
  return { stored: storedSchema.parse(values), warnings: [...warnings, ...deprecatedKeys(document)] };
}
