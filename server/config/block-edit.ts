/** Edits of single tables of `config.toml`: the library patches only their lines, because it is slow for long files. */
import { isDeepStrictEqual } from 'node:util';
import { createTimeSlice } from '#server/async/yield.ts';
import { isTomlTable, parseToml, subTable, tableOf, type TomlTable, type TomlValue } from './document.ts';
import { splitBlocks, withoutKeys, type TomlBlock } from './toml-blocks.ts';

export interface BlockEdit {
  /** Text of the file without new tables. */
  text: string;
  /** Tables that the text lacks, in the order in which they are appended. */
  added: { path: string[]; value: TomlValue }[];
}

export interface BlockEditOptions {
  before: string;
  /** The parsed text. */
  start: TomlTable;
  after: TomlTable;
  /** Tables whose members are records with headers of their own. */
  recordTables: readonly string[];
  /** Renamed records of a table: new keys by old ones. */
  renamed(table: string): ReadonlyMap<string, string>;
  /** Whether a value is written under a header. */
  ownSection(value: TomlValue): boolean;
  /** Patches a text to a value, preserving comments. */
  patch(text: string, value: TomlTable): string;
  /** Writes members without a header. */
  write(members: TomlTable): string;
}

/** Undefined if the tables that differ are not separate blocks of the text. Yields to the event loop. */
export async function editBlocks(options: BlockEditOptions): Promise<BlockEdit | undefined> {
  const { before, start, after, recordTables, renamed, ownSection, patch } = options;
  const blocks = splitBlocks(before, recordTables);
  if (!blocks) return undefined;
  const slice = createTimeSlice();
  const isRecordTable = (key: string) =>
    recordTables.includes(key) && [start[key], after[key]].every((value) => value === undefined || isTomlTable(value));
  const renames = new Map(recordTables.map((table) => [table, renamed(table)]));
  const written = new Set<string>();
  const texts: string[] = [];

  for (const block of blocks) {
    if (slice.due()) await slice.rest();
    const [key, id] = block.path;
    if (key === undefined) {
      const preamble = editPreamble(block, options, written, blocks.length === 1);
      if (preamble === undefined) return undefined;
      texts.push(preamble);
      continue;
    }
    // The header of all records, or records in its lines.
    if (id === undefined && isRecordTable(key)) {
      texts.push(block.text + block.gap);
      continue;
    }
    const target = id === undefined ? block.path : [key, renames.get(key)?.get(id) ?? id];
    const name = JSON.stringify(target);
    // Tables of one path that are not consecutive.
    if (written.has(name)) return undefined;
    written.add(name);
    const [was, is] = [valueAt(start, block.path), valueAt(after, target)];
    if (is !== undefined && target.at(-1) === block.path.at(-1) && isDeepStrictEqual(was, is)) {
      texts.push(block.text + block.gap);
    } else if (is === undefined) {
      if (block.gap.trim() !== '') texts.push(block.gap);
    } else {
      if (was === undefined || !isDeepStrictEqual(parseToml(block.text), wrapped(block.path, was))) return undefined;
      texts.push(withNewLine(patch(block.text, wrapped(target, is))) + block.gap);
    }
  }
  const added = Object.entries(after).flatMap(([key, value]): BlockEdit['added'] => {
    const table = isRecordTable(key) ? subTable(after, key) : undefined;
    const isNew = (path: string[]) => !written.has(JSON.stringify(path)) && valueAt(start, path) === undefined;
    if (!table) return isNew([key]) && ownSection(value) ? [{ path: [key], value }] : [];
    return Object.entries(table).flatMap(([id, record]) =>
      isNew([key, id]) ? [{ path: [key, id], value: record }] : [],
    );
  });
  return { text: texts.join(''), added };
}

/** The lines before the first header. */
function editPreamble(
  { text, gap }: TomlBlock,
  { after, start, ownSection, patch, write }: BlockEditOptions,
  written: Set<string>,
  isWhole: boolean,
): string | undefined {
  const present = parseToml(text);
  for (const [key, value] of Object.entries(present)) {
    if (!isDeepStrictEqual(start[key], value)) return undefined;
    written.add(JSON.stringify([key]));
  }
  const kept = Object.keys(present).flatMap((key): [string, TomlValue][] => {
    const value = after[key];
    return value === undefined ? [] : [[key, value]];
  });
  const added = Object.entries(after).filter(([key, value]) => start[key] === undefined && !ownSection(value));
  for (const [key] of added) written.add(JSON.stringify([key]));
  const wanted = tableOf([...kept, ...added]);
  if (isDeepStrictEqual(present, wanted)) return text + gap;
  if (Object.keys(present).length > 0) {
    const removed = new Set(Object.keys(present).filter((key) => after[key] === undefined));
    const rest = withoutKeys(text, removed);
    if (Object.keys(wanted).length === 0) return (rest + gap).replace(/^(?:[ \t]*\r?\n)+/, '');
    return withNewLine(patch(rest, wanted)) + gap;
  }
  // Comments directly above the first header belong to its table.
  const above = isWhole
    ? gap.length
    : Math.max(0, ...[...gap.matchAll(/^[ \t]*\r?\n/gm)].map((line) => line.index + line[0].length));
  const separator = isWhole ? '' : '\n';
  return withNewLine(gap.slice(0, above)) + withNewLine(write(wanted)) + separator + gap.slice(above);
}

const withNewLine = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

function valueAt(table: TomlTable, [key = '', id]: string[]): TomlValue | undefined {
  return id === undefined ? table[key] : subTable(table, key)?.[id];
}

const wrapped = ([key = '', id]: string[], value: TomlValue): TomlTable =>
  tableOf<TomlValue>([[key, id === undefined ? value : tableOf([[id, value]])]]);
