/** Reads the parsed file section by section, with diagnostics. */
import * as z from 'zod';
import { domainSchemas } from '#schema/config/config.ts';
import { isTable, subTable, tableOf } from './document.ts';
import type { TomlTable } from './document.ts';
import { filePath, sectionToWire, toSnake } from './key-case.ts';
import { mergedRules, permissionSectionSchema, unknownMembers } from './permission-section.ts';

const storedSchema = z.object({ ...domainSchemas, permission: permissionSectionSchema }).partial();

/** The file layer, domains in wire spelling; an absent or invalid section is absent here. */
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

/** The sections of the file from which a domain is read. */
export const sectionsOf = (domain: Domain): string[] =>
  domain === 'background' ? ['background', 'task'] : [toSnake(domain)];

/** A domain's value in the file, converted and normalized; undefined when the file has none. */
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

/** The file changes rarely: compiling its schemas takes longer than their compiled form would save. */
const RARELY = { jitless: true };

/** Issues of a domain's value, in file spelling; empty when it is valid. */
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

/** Consequences of an invalid section. */
const IGNORED = 'the section is ignored';
const RULES_STAY = 'the last good rules stay in force';
const RULES_UNKNOWN = 'no permission rules are known, so every permission mode acts as manual';

export interface Sections {
  stored: StoredConfig;
  warnings: ConfigWarning[];
  /** Whether `stored` has the rules of the file or of its last valid version; true without a `[permission]`. */
  rulesKnown: boolean;
}

/**
 * Reads every section; an invalid one is omitted with a warning. Rules are not omitted, because a typo would disable a
 * deny rule: those of `before` remain in force.
 */
export function readStored(document: TomlTable, before?: Pick<Sections, 'stored' | 'rulesKnown'>): Sections {
  const found = domains.flatMap((domain): [Domain, unknown][] => {
    const value = domainValue(document, domain);
    return value === undefined ? [] : [[domain, value]];
  });
  // A single pass over a file whose sections are all valid: it may have thousands of models.
  const whole = storedSchema.safeParse(Object.fromEntries(found), RARELY);
  const values: Record<string, unknown> = {};
  const warnings: ConfigWarning[] = [];
  let rulesKnown = true;
  for (const [domain, value] of found) {
    const [issue] = whole.success ? [] : domainIssues(domain, value);
    let consequence = IGNORED;
    if (!issue) values[domain] = value;
    else if (domain === 'permission') {
      rulesKnown = before?.rulesKnown ?? false;
      consequence = rulesKnown ? RULES_STAY : RULES_UNKNOWN;
    }
    if (issue) warnings.push({ domain, message: `${issue.path}: ${issue.message}; ${consequence}` });
  }
  const stored = whole.data ?? storedSchema.parse(values, RARELY);
  const keeps = values.permission === undefined && domainValue(document, 'permission') !== undefined;
  if (keeps && rulesKnown && before?.stored.permission) stored.permission = before.stored.permission;
  for (const path of unknownMembers(document.permission)) {
    warnings.push({ domain: 'permission', message: `${path} is not known and has no effect` });
  }
  return { stored, warnings: [...warnings, ...deprecatedKeys(document)], rulesKnown };
}

/** Warning for a file that is unreadable at the start, so that its rules are unknown. */
export const UNREADABLE_RULES: ConfigWarning = {
  domain: 'permission',
  message: `the file cannot be read; ${RULES_UNKNOWN}`,
};
