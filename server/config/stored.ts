/** Reading the parsed file: each section on its own, with diagnostics. */
import { z } from 'zod';
import { domainSchemas } from '#schema/config.ts';
import { isTable, subTable, tableOf } from './document.ts';
import type { TomlTable } from './document.ts';
import { filePath, sectionToWire, toSnake } from './key-case.ts';
import { mergedRules, permissionSectionSchema, unknownMembers } from './permission-section.ts';

const storedSchema = z.object({ ...domainSchemas, permission: permissionSectionSchema }).partial();

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

/** A file that changes now and then: to compile its schemas takes longer than their compiled form would ever save. */
const RARELY = { jitless: true };

/** What is wrong with a domain's value, in file spelling; empty when it is valid. */
export function domainIssues(domain: Domain, value: unknown): SectionIssue[] {
  const parsed = storedSchema.shape[domain].safeParse(value, RARELY);
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

/** What a section that is invalid counts as. */
const IGNORED = 'the section is ignored';
const RULES_STAY = 'the last good rules stay in force';
const RULES_UNKNOWN = 'no permission rules are known, so every permission mode acts as manual';

export interface Sections {
  stored: StoredConfig;
  warnings: ConfigWarning[];
  /** Whether the rules of `[permission]` are the file's, or were when it was last good; with none there are none. */
  rulesKnown: boolean;
}

/**
 * Reads every section; one that is invalid is left out with a warning. Rules are not: without them a deny rule would be
 * gone for a typo, so those of `before` stay.
 */
export function readStored(document: TomlTable, before?: Pick<Sections, 'stored' | 'rulesKnown'>): Sections {
  const values: Record<string, unknown> = {};
  const warnings: ConfigWarning[] = [];
  let rulesKnown = true;
  for (const domain of domains) {
    const value = domainValue(document, domain);
    if (value === undefined) continue;
    const [issue] = domainIssues(domain, value);
    let consequence = IGNORED;
    if (!issue) values[domain] = value;
    else if (domain === 'permission') {
      rulesKnown = before?.rulesKnown ?? false;
      consequence = rulesKnown ? RULES_STAY : RULES_UNKNOWN;
    }
    if (issue) warnings.push({ domain, message: `${issue.path}: ${issue.message}; ${consequence}` });
  }
  const stored = storedSchema.parse(values, RARELY);
  const keeps = values.permission === undefined && domainValue(document, 'permission') !== undefined;
  if (keeps && rulesKnown && before?.stored.permission) stored.permission = before.stored.permission;
  for (const path of unknownMembers(document.permission)) {
    warnings.push({ domain: 'permission', message: `${path} is not known and has no effect` });
  }
  return { stored, warnings: [...warnings, ...deprecatedKeys(document)], rulesKnown };
}

/** A file that cannot be read at the start: what it forbids is not known. */
export const UNREADABLE_RULES: ConfigWarning = {
  domain: 'permission',
  message: `the file cannot be read; ${RULES_UNKNOWN}`,
};
