/** Comments on lines, and the prompt that they are sent as. */
import { isObject } from '../../state/is-object.ts';
import type { DiffRow } from './diff-rows.ts';

export interface CommentedLines {
  path: string;
  /** Numbers of the first and the last line, in the changed file or else in the earlier one; undefined if unknown. */
  lines: { from: number; to: number; isBefore: boolean } | undefined;
  /** With the signs of a diff. */
  quote: string;
}

export interface LineComment extends CommentedLines {
  id: number;
  text: string;
  /** A text that was not added yet is not sent. */
  isAdded: boolean;
}

function parseLines(value: unknown): CommentedLines['lines'] {
  if (!isObject(value)) return undefined;
  const { from, to, isBefore } = value;
  return typeof from === 'number' && typeof to === 'number' ? { from, to, isBefore: isBefore === true } : undefined;
}

/** Reads what `stringifyComments` has returned; a damaged text has no comments. */
export function parseComments(stored: string): LineComment[] {
  let value: unknown;
  try {
    value = JSON.parse(stored || '[]');
  } catch {
    value = [];
  }
  const comments = (Array.isArray(value) ? value : []).flatMap((comment: unknown) => {
    const { path, lines, quote, text, isAdded } = isObject(comment) ? comment : {};
    if (typeof path !== 'string' || typeof quote !== 'string' || typeof text !== 'string') return [];
    return { path, lines: parseLines(lines), quote, text, isAdded: isAdded === true };
  });
  return numbered(comments);
}

/** Gives each comment an id of its own. */
export const numbered = (comments: readonly Omit<LineComment, 'id'>[]): LineComment[] =>
  comments.map((comment, at) => ({ ...comment, id: at + 1 }));

/** Empty without comments. */
export const stringifyComments = (comments: readonly LineComment[]): string =>
  comments.length === 0 ? '' : JSON.stringify(comments);

export const keyOfLines = (lines: CommentedLines): string => `${addressOf(lines)}\n${lines.quote}`;

const signs = { same: ' ', added: '+', removed: '-', place: '' };

/** The lines of some rows; undefined if they have no line of the file. */
export function commentedLines(path: string, rows: readonly DiffRow[]): CommentedLines | undefined {
  const lines = rows.filter(({ kind }) => kind !== 'place');
  if (lines.length === 0) return undefined;
  const quote = lines.map(({ kind, text }) => signs[kind] + text).join('\n');
  const after = lines.flatMap((row) => row.after ?? []);
  const before = lines.flatMap((row) => row.before ?? []);
  const numbers = after.length > 0 ? after : before;
  const [from, to] = [numbers[0], numbers.at(-1)];
  const position = from === undefined || to === undefined ? undefined : { from, to, isBefore: after.length === 0 };
  return { path, lines: position, quote };
}

/** Such as `src/a.ts:3-5`. */
export function addressOf({ path, lines }: Pick<CommentedLines, 'path' | 'lines'>): string {
  if (!lines) return path;
  return lines.from === lines.to ? `${path}:${lines.from}` : `${path}:${lines.from}-${lines.to}`;
}

/** A fence that the quote cannot end. */
function fenceOf(quote: string): string {
  const longest = Math.max(2, ...Array.from(quote.matchAll(/`+/g), ([run]) => run.length));
  return '`'.repeat(longest + 1);
}

/** One prompt for the agent, in the order of the comments. It is not translated: the agent reads it. */
export function reviewPrompt(comments: readonly LineComment[]): string {
  const parts = comments.map(({ text, quote, ...target }) => {
    const removed = target.lines?.isBefore === true ? ' (removed lines)' : '';
    const fence = fenceOf(quote);
    return `${addressOf(target)}${removed}\n${fence}diff\n${quote}\n${fence}\n${text.trim()}`;
  });
  return ['Review comments on the changes:', ...parts].join('\n\n');
}
