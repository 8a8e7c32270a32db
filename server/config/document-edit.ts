/**
 * Edits the text of `config.toml`, preserving comments and unchanged lines. The library is large and slow, so code that
 * only reads the text uses another one.
 */
import { isDeepStrictEqual } from 'node:util';
import type { TomlFormat } from '@decimalturn/toml-patch';
import { createTimeSlice, yieldToLoop } from '#server/async/yield.ts';
import { editBlocks } from './block-edit.ts';
import { isTomlTable, parseToml, subTable, tableOf, type TomlTable, type TomlValue } from './document.ts';

type Library = typeof import('@decimalturn/toml-patch');

/** Tables whose entries are listed in the file's order. */
const RECORD_TABLES = ['providers', 'models'];

export interface EditedText {
  text: string;
  /** False: the text was generated from scratch and the comments are lost. */
  commentsKept: boolean;
}

/**
 * Returns a text that parses to `after`, with as few changes of `before` as possible; `start` is the parsed `before`. Each result is parsed again and
 * compared, because the patching library fails on some edits. Throws when no text parses to `after`.
 */
export async function editToml(
  before: string,
  after: TomlTable,
  start: TomlTable = parseToml(before),
): Promise<EditedText> {
  const library = await import('@decimalturn/toml-patch');
  const edited = await patchBlocks(library, before, start, after).catch(() => undefined);
  if (edited !== undefined && (await holds(edited, after))) return { text: edited, commentsKept: true };
  for (const edit of [patchSections, replaceSections]) {
    const text = attempt(() => edit(library, before, after));
    if (text !== undefined && (await holds(text, after))) return { text, commentsKept: true };
  }
  const text = library.stringify(after, format(library.TomlFormat.default()));
  if (!(await holds(text, after))) throw new Error('the configuration cannot be written as TOML');
  return { text, commentsKept: false };
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    // The library has no error type of its own; the next method is tried.
    return undefined;
  }
}

/** Both steps take a while for thousands of models. */
async function holds(text: string, wanted: TomlTable): Promise<boolean> {
  await yieldToLoop();
  const found = attempt(() => parseToml(text));
  await yieldToLoop();
  if (!found || !isDeepStrictEqual(found, wanted)) return false;
  return RECORD_TABLES.every((name) =>
    isDeepStrictEqual(Object.keys(subTable(found, name) ?? {}), Object.keys(subTable(wanted, name) ?? {})),
  );
}

function format(base: TomlFormat): TomlFormat {
  base.inlineTableStart = 3;
  return base;
}

/** Patches the lines of changed tables only; undefined if the text has no such lines. */
async function patchBlocks(
  library: Library,
  before: string,
  start: TomlTable,
  after: TomlTable,
): Promise<string | undefined> {
  const edit = await editBlocks({
    before,
    start,
    after,
    recordTables: RECORD_TABLES,
    renamed: (table) =>
      alignedRenames(Object.keys(subTable(start, table) ?? {}), Object.keys(subTable(after, table) ?? {})),
    ownSection,
    patch: (text, value) => patchSections(library, text, value),
    write: (table) => members(library, table),
  });
  if (!edit) return undefined;
  const slice = createTimeSlice();
  const added: string[] = [];
  for (const { path, value } of edit.added) {
    if (slice.due()) await slice.rest();
    added.push(...sectionText(library, path, value));
  }
  return append(edit.text, added);
}

/** Renames first, so that a renamed record keeps its lines; then changed values; new sections and records last. */
function patchSections(library: Library, before: string, after: TomlTable): string {
  const { patch, TomlFormat } = library;
  const start = parseToml(before);
  const renamed = withRenames(start, after);
  const text = renamed === start ? before : patch(before, renamed, format(TomlFormat.autoDetectFormat(before)));
  const isNew = (path: string[]) => path.length > 0 && !hasPath(renamed, path);
  const kept = tableOf(
    Object.entries(after).flatMap(([key, value]): [string, TomlValue][] => {
      if (isNew([key]) && ownSection(value)) return [];
      const table = RECORD_TABLES.includes(key) ? subTable(after, key) : undefined;
      if (!table) return [[key, value]];
      return [[key, tableOf(Object.entries(table).filter(([id]) => !isNew([key, id])))]];
    }),
  );
  const patched = isDeepStrictEqual(renamed, kept)
    ? text
    : patch(text, kept, format(TomlFormat.autoDetectFormat(text)));
  const added = Object.entries(after).flatMap(([key, value]) => {
    const table = RECORD_TABLES.includes(key) && isTomlTable(value) ? value : undefined;
    if (table)
      return Object.entries(table).flatMap(([id, record]) =>
        isNew([key, id]) ? sectionText(library, [key, id], record) : [],
      );
    return isNew([key]) && ownSection(value) ? sectionText(library, [key], value) : [];
  });
  return append(patched, added);
}

/** Removes changed sections and writes them again at the end; all other lines are unchanged. */
function replaceSections(library: Library, before: string, after: TomlTable): string {
  const { patch, TomlFormat } = library;
  const start = parseToml(before);
  const changed = Object.keys(after).filter(
    (key) => !isDeepStrictEqual(start[key], after[key]) && ownSection(after[key]),
  );
  const kept = tableOf(Object.entries(after).filter(([key]) => !changed.includes(key)));
  const rest = isDeepStrictEqual(start, kept)
    ? before
    : patch(before, kept, format(TomlFormat.autoDetectFormat(before)));
  return append(
    rest,
    changed.flatMap((key) => {
      const value = after[key];
      if (value === undefined) return [];
      const records = RECORD_TABLES.includes(key) && isTomlTable(value) ? Object.entries(value) : undefined;
      return records
        ? records.flatMap(([id, record]) => sectionText(library, [key, id], record))
        : sectionText(library, [key], value);
    }),
  );
}

/** Whether a value is written under a header of its own, not as `key = value` among the top-level keys. */
function ownSection(value: TomlValue | undefined): boolean {
  if (value === undefined) return false;
  return isTomlTable(value) || (Array.isArray(value) && value.length > 0 && value.every(isTomlTable));
}

function hasPath(table: TomlTable, [key = '', ...rest]: string[]): boolean {
  if (!(key in table)) return false;
  if (rest.length === 0) return true;
  const inner = subTable(table, key);
  return inner !== undefined && hasPath(inner, rest);
}

/** `before` with the keys of records that were renamed at their position; the same object without any. */
function withRenames(before: TomlTable, after: TomlTable): TomlTable {
  let result = before;
  for (const name of RECORD_TABLES) {
    const [was, is] = [subTable(before, name), subTable(after, name)];
    if (!was || !is) continue;
    const renames = alignedRenames(Object.keys(was), Object.keys(is));
    if (renames.size === 0) continue;
    const table = tableOf(
      Object.entries(was).map(([key, value]): [string, TomlValue] => [renames.get(key) ?? key, value]),
    );
    result = tableOf(
      Object.entries(result).map(([key, value]): [string, TomlValue] => [key, key === name ? table : value]),
    );
  }
  return result;
}

/** Pairs removed and new keys between the same two unchanged neighbours, in order. */
function alignedRenames(before: string[], after: string[]): Map<string, string> {
  const renames = new Map<string, string>();
  const runs = (keys: string[], others: string[]) => {
    const found: string[][] = [[]];
    const shared = new Set(others);
    for (const key of keys) {
      if (shared.has(key)) found.push([]);
      else found.at(-1)?.push(key);
    }
    return found;
  };
  const added = runs(after, before);
  for (const [place, vanished] of runs(before, after).entries()) {
    for (const [index, key] of vanished.entries()) {
      const renamed = added[place]?.[index];
      if (renamed !== undefined) renames.set(key, renamed);
    }
  }
  return renames;
}

const keyText = (key: string) => (/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key));

function sectionText(library: Library, path: string[], value: TomlValue): string[] {
  const name = path.map(keyText).join('.');
  if (Array.isArray(value))
    return value.flatMap((entry) => (isTomlTable(entry) ? [`[[${name}]]\n${members(library, entry)}`] : []));
  if (!isTomlTable(value)) return [];
  const nested = Object.entries(value).filter(([, member]) => path.length === 1 && isTomlTable(member));
  const own = tableOf(Object.entries(value).filter(([key]) => !nested.some(([other]) => other === key)));
  const head = Object.keys(own).length > 0 || nested.length === 0 ? [`[${name}]\n${members(library, own)}`] : [];
  return [...head, ...nested.flatMap(([key, member]) => sectionText(library, [...path, key], member))];
}

function members({ stringify, TomlFormat }: Library, table: TomlTable): string {
  if (Object.keys(table).length === 0) return '';
  const style = TomlFormat.default();
  style.inlineTableStart = 0;
  return stringify(table, style);
}

function append(text: string, sections: string[]): string {
  if (sections.length === 0) return text;
  const newLine = text.includes('\r\n') ? '\r\n' : '\n';
  const head = text.trimEnd();
  const parts = sections.map((section) => section.trimEnd().replaceAll(/\r?\n/g, newLine));
  return [...(head === '' ? [] : [head]), ...parts].join(newLine + newLine) + newLine;
}
