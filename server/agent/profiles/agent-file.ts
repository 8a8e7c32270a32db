/** Parser of agent files: front matter that configures an agent, and a body that is its system prompt. */
import { z } from 'zod';
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

/** Content of an agent file; `name` defaults to the file's name. */
export interface AgentFile {
  name: string;
  description: string;
  whenToUse?: string;
  /** Whether it replaces a built-in profile of its name. */
  override: boolean;
  tools: readonly string[] | '*';
  disallowedTools?: readonly string[];
  subagents?: readonly string[] | '*';
  /** Template of the system prompt, with placeholders. */
  template: string;
}

const text = z.string().transform((given) => given.trim());
/** A list, or its entries separated by commas. */
const names = z
  .union([z.array(z.string()), z.string().transform((list) => list.split(','))])
  .transform((list) => list.map((entry) => entry.trim()).filter((entry) => entry !== ''));
const anyOrNames = z.union([z.literal('*'), names]);

const name = text.pipe(
  z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower-case words with dashes between them'),
);
const frontMatter = z.object(
  {
    name: name.optional(),
    description: text.pipe(z.string().min(1)),
    whenToUse: text.optional(),
    override: z.boolean().default(false),
    tools: anyOrNames.default('*'),
    disallowedTools: names.optional(),
    subagents: anyOrNames.optional(),
  },
  'the front matter is no mapping',
);

/** Splits a file into the front matter between its `---` lines and the text after it. */
function split(source: string): { head: string; body: string } | undefined {
  const found = /^\uFEFF?---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(source);
  return found ? { head: found[1] ?? '', body: found[2] ?? '' } : undefined;
}

/** Throws an error that states the problem. `baseName` is without `.md`. */
export async function parseAgentFile(source: string, baseName: string): Promise<AgentFile> {
  const parts = split(source);
  if (!parts) throw new Error('it has no front matter');
  const { head, body } = parts;
  if (Buffer.byteLength(head) > FRONT_MATTER_BYTES) throw new Error('its front matter is too large');
  assertPlain(head);
  const { name: given, ...fields } = checked(frontMatter, await yamlOf(head));
  const template = body.trim();
  if (template === '') throw new Error('it has no prompt behind the front matter');
  const { whenToUse, disallowedTools, subagents, ...always } = fields;
  return {
    name: given ?? checked(name, baseName, 'name'),
    ...always,
    ...(whenToUse === undefined ? {} : { whenToUse }),
    ...(disallowedTools === undefined ? {} : { disallowedTools }),
    ...(subagents === undefined ? {} : { subagents }),
    template,
  };
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

function checked<T>(schema: z.ZodType<T>, value: unknown, member?: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = [...(member === undefined ? [] : [member]), ...(issue?.path ?? [])].join('.');
  throw new Error(path === '' ? `${issue?.message}` : `${path}: ${issue?.message}`);
}
