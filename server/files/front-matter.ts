/** Front matter: the YAML between two `---` lines at the start of a Markdown file. The files may have any author. */
import type * as z from 'zod';
import { errorMessage } from '#server/errors/service-error.ts';

/** Size limit of the front matter, in UTF-8. */
const FRONT_MATTER_BYTES = 65_536;
const YAML_ALIASES = 100;
/**
 * Limits for the YAML parser: it is recursive, so that deep nesting overflows the stack (and ends the process), and
 * slow for many nodes. A mapping of texts and lists stays far below them.
 */
const MAX_LINES = 1000;
const MAX_INDENT = 100;
const MAX_FLOW_STARTS = 100;
const MAX_COMMAS = 2000;
const MAX_INDICATORS_PER_LINE = 30;

export interface FileParts {
  /** The text between the `---` lines; undefined without front matter. */
  head: string | undefined;
  /** The text after it. */
  body: string;
}

/** Splits a file; a byte order mark is dropped. Throws if the front matter has no end, or names another language. */
export function splitFrontMatter(source: string): FileParts {
  const text = source.replace(/^\uFEFF/, '');
  const found = /^---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(text);
  if (found) return { head: found[1] ?? '', body: found[2] ?? '' };
  if (/^---[ \t]*(\r?\n|$)/.test(text)) throw new Error('its front matter has no end');
  if (/^---[ \t]*[a-z]+[ \t]*\r?\n/i.test(text)) throw new Error('its front matter is no YAML');
  return { head: undefined, body: text };
}

/** Parses the front matter. Throws an error that states the problem; no content of it is ever executed. */
export async function parseFrontMatter<T>(head: string, schema: z.ZodType<T>): Promise<T> {
  if (Buffer.byteLength(head) > FRONT_MATTER_BYTES) throw new Error('its front matter is too large');
  assertPlain(head);
  return checked(schema, await yamlOf(head));
}

const countOf = (source: string, pattern: RegExp) => source.match(pattern)?.length ?? 0;

/** Counts in the raw text, quoted or not, so that no content can nest deeper than the limits. */
function assertPlain(source: string): void {
  const lines = source.split(/\r\n|\n|\r/);
  const plain =
    lines.length <= MAX_LINES &&
    countOf(source, /[[{]/g) <= MAX_FLOW_STARTS &&
    countOf(source, /,/g) <= MAX_COMMAS &&
    lines.every(
      (line) => line.search(/[^ \t]|$/) <= MAX_INDENT && countOf(line, /[-?:](?=[ \t]|$)/g) <= MAX_INDICATORS_PER_LINE,
    );
  if (!plain) throw new Error('its front matter is more than a mapping of texts and lists');
}

async function yamlOf(source: string): Promise<unknown> {
  const { parse } = await import('yaml');
  try {
    // The parser's check of unique keys is quadratic.
    const options = { schema: 'core', maxAliasCount: YAML_ALIASES, prettyErrors: false, uniqueKeys: false } as const;
    return parse(source, { ...options, logLevel: 'error' });
  } catch (error) {
    throw new Error(`its front matter is no YAML: ${errorMessage(error)}`, { cause: error });
  }
}

/** Validates a value. Throws an error with the path of the first problem, which starts with `member`. */
export function checked<T>(schema: z.ZodType<T>, value: unknown, member?: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = [...(member === undefined ? [] : [member]), ...(issue?.path ?? [])].join('.');
  throw new Error(path === '' ? `${issue?.message}` : `${path}: ${issue?.message}`);
}
