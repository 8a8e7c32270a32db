/** The tables parsed from `config.toml`; `document-edit.ts` changes its text. */
import { parse, TomlError } from 'smol-toml';

export type TomlValue = string | number | bigint | boolean | Date | TomlValue[] | TomlTable;
/** Without a prototype, so that no key of a file is special. */
export interface TomlTable {
  [key: string]: TomlValue;
}

export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Creates a table without a prototype from these entries. */
export function tableOf<Value>(entries: Iterable<readonly [string, Value]>): Record<string, Value> {
  const table: Record<string, Value> = Object.create(null);
  for (const [key, value] of entries) table[key] = value;
  return table;
}

/** Deep-copies a value to TOML, without undefined members. Throws for values that TOML cannot represent. */
export function toToml(value: unknown): TomlValue {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') return value;
  if (typeof value === 'boolean' || value instanceof Date) return value;
  if (Array.isArray(value)) return value.map(toToml);
  if (isTable(value)) return toTable(value);
  throw new Error(`TOML cannot hold ${value === null ? 'null' : typeof value}`);
}

export function toTable(value: Record<string, unknown>): TomlTable {
  return tableOf(
    Object.entries(value).flatMap(([key, member]) => (member === undefined ? [] : [[key, toToml(member)]])),
  );
}

/** The member if it is a table, else undefined. */
export function subTable(table: TomlTable, key: string): TomlTable | undefined {
  const member = table[key];
  return member !== undefined && isTomlTable(member) ? member : undefined;
}

export function isTomlTable(value: TomlValue): value is TomlTable {
  return isTable(value);
}

/** Throws with line and column when the text is not valid TOML. */
export function parseToml(text: string): TomlTable {
  return toTable(parseText(text));
}

/** The library's message quotes the line, which may contain a key; this one has only the position. */
function parseText(text: string): Record<string, unknown> {
  let failure: unknown;
  try {
    return parse(text, { integersAsBigInt: 'asNeeded' });
  } catch (error) {
    failure = error;
  }
  const place = failure instanceof TomlError ? ` at line ${failure.line}, column ${failure.column}` : '';
  throw new Error(`not valid TOML${place}`);
}
