/** `POST /config`: merges a partial config object into the file's tables. */
import { invalid } from '#server/errors/service-error.ts';
import type { ErrorDetail } from '#server/errors/service-error.ts';
import { domainSchemas } from '#schema/config/config.ts';
import type { ConfigPatch } from '#schema/rest/config-patch.ts';
import { oauthRefSchema } from '#schema/rest/model.ts';
import { providerRecordSchema } from '#schema/config/provider-record.ts';
import { isTable, isTomlTable, subTable, tableOf, toToml } from './document.ts';
import type { TomlTable, TomlValue } from './document.ts';
import { ENV_MODEL, ENV_PROVIDER, readModelVariables } from './environment-model.ts';
import { readEnvironment, readServices } from './environment.ts';
import type { MemoryLayer } from './effective.ts';
import { sectionToFile, toCamel, toSnake } from './key-case.ts';
import { patchPermission } from './permission-section.ts';
import { domainIssues, domains, domainValue } from './stored.ts';

type Members = Record<string, unknown>;

/** The layers above the file; a patch does not write members that they set. */
export interface UpperLayers {
  env: NodeJS.ProcessEnv;
  memory: MemoryLayer | undefined;
}

/** The document with the patch merged in; `before` is not mutated. Throws `validation.failed`, one detail per issue. */
export function patchDocument(before: TomlTable, body: ConfigPatch, layers: UpperLayers): TomlTable {
  const { yolo, ...sections } = body;
  const patch: Members = { ...sections, ...(yolo && { default_permission_mode: 'yolo' }) };
  const document = tableOf(Object.entries(before));
  const details: ErrorDetail[] = [];
  for (const [section, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    const domain = domains.find((name) => name === toCamel(section));
    if (!domain) continue;
    mergeSection(document, section, value, layers, details);
    const merged = domainValue(document, domain);
    if (merged !== undefined) details.push(...domainIssues(domain, merged));
  }
  if (details.length > 0) throw invalid(details);
  return document;
}

function mergeSection(
  document: TomlTable,
  section: string,
  value: unknown,
  layers: UpperLayers,
  details: ErrorDetail[],
) {
  if (value === null) {
    delete document[section];
    if (section === 'background') delete document.task;
    return;
  }
  const change = accepted(section, sectionToFile(section, value), layers);
  if (change === undefined) return;
  if (section === 'permission' && isTable(change)) {
    put(document, section, patchPermission(document, change, details));
    return;
  }
  const target = section === 'background' && document.task !== undefined ? 'task' : section;
  if (target === 'task' && isTable(change)) removeFromAlias(document, change);
  put(document, target, merge(document[target], change, target, details));
}

function put(table: TomlTable, key: string, value: TomlValue | undefined): void {
  if (value === undefined) delete table[key];
  else table[key] = value;
}

/** Merges objects recursively and replaces other values; null removes. Undefined when the result is empty. */
function merge(
  before: TomlValue | undefined,
  change: unknown,
  path: string,
  details: ErrorDetail[],
): TomlValue | undefined {
  if (change === null) return undefined;
  if (Array.isArray(change)) return storable(change, path, details);
  if (!isTable(change)) return toToml(change);
  const entries = Object.entries(change);
  const table = before !== undefined && isTomlTable(before) ? before : undefined;
  if (entries.length === 0) return before;
  const merged = tableOf(Object.entries(table ?? {}));
  for (const [key, value] of entries) put(merged, key, merge(merged[key], value, `${path}.${key}`, details));
  return Object.keys(merged).length > 0 ? merged : undefined;
}

function storable(list: unknown[], path: string, details: ErrorDetail[]): TomlValue[] {
  return list.flatMap((entry, index): TomlValue[] => {
    const at = `${path}.${index}`;
    if (entry === null) details.push({ path: at, message: 'null cannot be stored in a list' });
    if (Array.isArray(entry)) return [storable(entry, at, details)];
    return [merge(undefined, entry, at, details) ?? tableOf([])];
  });
}

/** If the file has both tables, a member set or removed in `[task]` must not be inherited from its alias. */
function removeFromAlias(document: TomlTable, change: Members): void {
  const alias = subTable(document, 'background');
  if (!alias) return;
  const kept = Object.entries(alias).filter(([key]) => change[key] !== null);
  if (kept.length > 0) document.background = tableOf(kept);
  else delete document.background;
}

const snakeKeys = (shape: object): string[] => Object.keys(shape).map(toSnake);

const OAUTH = snakeKeys(oauthRefSchema.shape);
const PROVIDER = snakeKeys(providerRecordSchema.shape);
const SERVICE = ['base_url', 'api_key', 'oauth', 'custom_headers'];
/** Sections whose unknown members are dropped; unknown members of a model record are stored. */
const KNOWN: Record<string, string[]> = {
  thinking: snakeKeys(domainSchemas.thinking.shape),
  loop_control: snakeKeys(domainSchemas.loopControl.shape),
  background: snakeKeys(domainSchemas.background.shape),
  subagent: snakeKeys(domainSchemas.subagent.shape),
  secondary_model: ['default_model', 'models', 'force'],
  services: ['search', 'fetch'],
};

const pick = (value: unknown, keys: string[]): unknown =>
  isTable(value) ? tableOf(Object.entries(value).filter(([key]) => keys.includes(key))) : value;

const mapMembers = (value: unknown, map: (member: unknown) => unknown): unknown =>
  isTable(value) ? tableOf(Object.entries(value).map(([key, member]): [string, unknown] => [key, map(member)])) : value;

const withKnownOauth = (keys: string[]) => (record: unknown) => {
  const known = pick(record, keys);
  return isTable(known) && 'oauth' in known
    ? tableOf([...Object.entries(known), ['oauth', pick(known.oauth, OAUTH)] as const])
    : known;
};

/** The part of a section's patch that is stored; undefined when a higher layer sets all of it. */
function accepted(section: string, value: unknown, layers: UpperLayers): unknown {
  const decided = decidedAbove(section, layers);
  if (decided === 'all') return undefined;
  const open = (members: unknown) =>
    isTable(members) ? tableOf(Object.entries(members).filter(([key]) => !decided.includes(key))) : members;
  if (section === 'providers') return open(mapMembers(value, withKnownOauth(PROVIDER)));
  if (section === 'services') {
    const { search, fetch } = readServices(layers.env);
    const known = open(pick(value, KNOWN.services ?? []));
    if (!isTable(known)) return known;
    const keys = { search: search.apiKey, fetch: fetch.apiKey };
    return tableOf(
      Object.entries(known).map(([name, entry]): [string, unknown] => {
        const fromEnv = (name === 'search' ? keys.search : keys.fetch) !== undefined;
        return [name, withKnownOauth(SERVICE.filter((key) => !fromEnv || !['api_key', 'oauth'].includes(key)))(entry)];
      }),
    );
  }
  const known = KNOWN[section];
  return open(known ? pick(value, known) : value);
}

/** Keys of the section, in file spelling, whose value is set by the environment or in memory. */
function decidedAbove(section: string, { env, memory }: UpperLayers): 'all' | string[] {
  const { defined, thinkingEffort } = readModelVariables(env);
  switch (section) {
    case 'default_model':
      return defined || memory?.defaultModel !== undefined ? 'all' : [];
    case 'providers':
      return [ENV_PROVIDER, ...Object.keys(memory?.providers ?? {})];
    case 'models':
      return [ENV_MODEL, ...Object.keys(memory?.models ?? {})];
    case 'thinking':
      return thinkingEffort === undefined ? [] : ['forced_effort'];
    case 'services': {
      const { search, fetch } = readServices(env);
      return [...(search.baseUrl ? ['search'] : []), ...(fetch.baseUrl ? ['fetch'] : [])];
    }
    case 'loop_control':
      return snakeKeys(readEnvironment(env).loopControl);
    case 'background':
      return snakeKeys(readEnvironment(env).background);
    case 'subagent':
      return snakeKeys(readEnvironment(env).subagent);
    default:
      return [];
  }
}
