/** Grep: searches file contents with ripgrep. */
import { join } from 'node:path';
import * as z from 'zod';
import { createOutputBuilder } from '#server/text/truncate.ts';
import { displayPath } from '#server/files/paths.ts';
import { movedSince, resolveTarget } from '#server/runtime/path-policy.ts';
import type { Target } from '#server/runtime/path-policy.ts';
import {
  commonArguments,
  OUT_OF_MEMORY,
  runRipgrep,
  SEARCH_TIMEOUT_MS,
  SearchError,
  stripDot,
} from '#server/ripgrep/ripgrep.ts';
import type { SearchOptions, SearchRun } from '#server/ripgrep/ripgrep.ts';
import { inPathOrder, newestFirst, searchScope } from '#server/ripgrep/search-scope.ts';
import { createSearchFilter } from '#server/permissions/search-filter.ts';
import { defineTool, failed } from '#server/tools/tool.ts';
import type { RunContext, Tool, ToolResult } from '#server/tools/tool.ts';

export const GREP_DEFAULT_HEAD_LIMIT = 250;
export const GREP_MAX_STDOUT_BYTES = 10 * 1024 * 1024;
const MTIME_STEP_MS = 1000;

const parameters = z.object({
  pattern: z.string().describe('Regular expression in ripgrep syntax.'),
  path: z.string().optional().describe('File or directory to search. Default is the working directory.'),
  glob: z.string().optional().describe('Only files matching this glob, relative to path, such as `*.ts` or `src/**`.'),
  type: z.string().optional().describe('Only files of this ripgrep type, such as `ts`, `py` or `rust`.'),
  output_mode: z
    .enum(['files_with_matches', 'content', 'count_matches'])
    .optional()
    .describe('`files_with_matches` (default, newest first), `content` (matching lines) or `count_matches`.'),
  '-i': z.boolean().optional().describe('Ignore case.'),
  '-n': z.boolean().optional().describe('Line numbers in content mode. Default true.'),
  '-A': z.int().min(0).optional().describe('Lines after each match, content mode.'),
  '-B': z.int().min(0).optional().describe('Lines before each match, content mode.'),
  '-C': z.int().min(0).optional().describe('Lines before and after each match; wins over -A and -B.'),
  head_limit: z.int().min(0).optional().describe(`Entries to return. Default ${GREP_DEFAULT_HEAD_LIMIT}; 0 means all.`),
  offset: z.int().min(0).optional().describe('Entries to skip first. Default 0.'),
  multiline: z.boolean().optional().describe('Let the pattern span lines, `.` matching line breaks.'),
  include_ignored: z.boolean().optional().describe('Search files that ignore files such as .gitignore exclude.'),
});
type GrepArguments = z.output<typeof parameters>;

/** One row of output; rows with different `block` are separated by `--`. */
interface Entry {
  text: string;
  block?: number;
}

interface Found {
  entries: Entry[];
  /** Line before the entries. */
  heading?: string;
  /** How many entries at the end are not sorted by age. */
  undated?: number;
}

function modeArguments(args: GrepArguments): string[] {
  const mode = args.output_mode ?? 'files_with_matches';
  if (mode === 'files_with_matches') return ['--files-with-matches'];
  if (mode === 'count_matches') return ['--count-matches', '--with-filename'];
  // Line numbers are always requested, because their delimiter distinguishes a match from a context line.
  const context =
    args['-C'] !== undefined
      ? [`-C${args['-C']}`]
      : [
          ...(args['-A'] === undefined ? [] : [`-A${args['-A']}`]),
          ...(args['-B'] === undefined ? [] : [`-B${args['-B']}`]),
        ];
  return ['--line-number', '--with-filename', '--no-heading', ...context];
}

function ripgrepArguments(args: GrepArguments, argument: string): string[] {
  return [
    ...commonArguments(args.glob === undefined ? [] : [args.glob], args.include_ignored ?? false),
    ...(args['-i'] ? ['--ignore-case'] : []),
    ...(args.multiline ? ['--multiline', '--multiline-dotall'] : []),
    ...(args.type === undefined ? [] : [`--type=${args.type}`]),
    ...modeArguments(args),
    `--regexp=${args.pattern}`,
    '--',
    argument,
  ];
}

/** The file that a row belongs to; undefined for separators of blocks. */
function fileOf(row: string): string | undefined {
  const at = row.indexOf('\0');
  return at === -1 ? undefined : stripDot(row.slice(0, at));
}

/** Labels of the files in the result, by name. */
type Labels = ReadonlyMap<string, string>;

function countEntries({ records }: SearchRun, labels: Labels): Found {
  const counts = new Map<string, number>();
  for (const row of records) {
    const name = fileOf(row);
    if (name !== undefined && labels.has(name)) counts.set(name, Number(row.slice(row.indexOf('\0') + 1)));
  }
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const entries = inPathOrder([...counts.keys()]).map((name) => ({ text: `${labels.get(name)}:${counts.get(name)}` }));
  return { entries, heading: `${total} matches in ${counts.size} files.` };
}

/** Sorts files by path, so that offsets stay valid: ripgrep prints a file's rows together, but files in any order. */
function contentEntries({ records }: SearchRun, labels: Labels, numbers: boolean): Found {
  const rows = new Map<string, Entry[]>();
  let block = 0;
  for (const row of records) {
    if (row === '--') {
      block++;
      continue;
    }
    const name = fileOf(row);
    const label = name === undefined ? undefined : labels.get(name);
    const line = /^(\d+)([:-])([\s\S]*)$/.exec(row.slice(row.indexOf('\0') + 1));
    if (name === undefined || label === undefined || !line) continue;
    const [, number, mark, text = ''] = line;
    const where = numbers ? `${mark}${number}${mark}` : mark;
    const entry = { text: `${label}${where}${text.replace(/\r$/, '')}`, block };
    const known = rows.get(name);
    if (known) known.push(entry);
    else rows.set(name, [entry]);
  }
  return { entries: inPathOrder([...rows.keys()]).flatMap((name) => rows.get(name) ?? []) };
}

/** The requested page of entries, followed by notices about the rest. */
function page(found: Found, args: GrepArguments, run: SearchRun, hidden: number, timeoutMs: number): ToolResult {
  const offset = args.offset ?? 0;
  const limit = args.head_limit ?? GREP_DEFAULT_HEAD_LIMIT;
  const end = limit === 0 ? found.entries.length : Math.min(found.entries.length, offset + limit);
  const shown = found.entries.slice(offset, end);
  const notices: string[] = [];
  if (end < found.entries.length) {
    notices.push(`[${shown.length} of ${found.entries.length} results shown; go on with offset ${end}.]`);
  }
  if (run.stopped === 'timeout')
    notices.push(`[The search was stopped after ${timeoutMs / 1000} s; results are incomplete.]`);
  if (run.stopped === 'output')
    notices.push(`[The search was stopped at ${GREP_MAX_STDOUT_BYTES} bytes; results are incomplete.]`);
  if (run.stopped === 'memory') notices.push(`[${OUT_OF_MEMORY} Results are incomplete.]`);
  if (found.undated) notices.push(`[Too many files: ${found.undated} of them were left out of the order by age.]`);
  if (hidden > 0) notices.push(`[Matches in ${hidden} sensitive ${hidden === 1 ? 'file' : 'files'} are not shown.]`);

  const builder = createOutputBuilder();
  if (found.entries.length === 0) builder.write('No matches found.\n');
  else if (found.heading) builder.write(`${found.heading}\n`);
  let block = shown[0]?.block;
  for (const entry of shown) {
    if (entry.block !== block) builder.write('--\n');
    block = entry.block;
    builder.write(`${entry.text}\n`);
  }
  const { output, truncated } = builder.finish(notices);
  return { output: output.replace(/\n$/, ''), ...(truncated ? { truncated } : {}) };
}

/** Creates the tool; `options` exist for tests and for other locations of the ripgrep binary. */
export function createGrepTool(options: SearchOptions = {}): Tool {
  const timeoutMs = options.timeoutMs ?? SEARCH_TIMEOUT_MS;

  async function search(args: GrepArguments, target: Target, context: RunContext): Promise<ToolResult> {
    const { runtime, signal, cwd } = context;
    const scope = await searchScope(target, runtime);
    if (!scope) return failed(`${args.path ?? target.path} does not exist.`);
    if (typeof scope === 'string') return failed(scope);
    const { directory, argument } = scope;
    const filter = await createSearchFilter(directory, target, context);
    const mode = args.output_mode ?? 'files_with_matches';
    const run = await runRipgrep(
      {
        runtime,
        args: ripgrepArguments(args, argument),
        cwd: directory,
        workspace: cwd,
        signal,
        maxBytes: GREP_MAX_STDOUT_BYTES,
        separator: mode === 'files_with_matches' ? '\0' : '\n',
      },
      options,
    );
    const byRow =
      mode === 'files_with_matches' ? run.records.map(stripDot) : run.records.flatMap((row) => fileOf(row) ?? []);
    const names = await filter.withoutPrivateKeys([...new Set(byRow)].filter(filter.shows), signal);
    const labels = new Map(names.map((name) => [name, displayPath(join(directory, name), cwd)]));
    let found: Found;
    if (mode === 'content') found = contentEntries(run, labels, args['-n'] ?? true);
    else if (mode === 'count_matches') found = countEntries(run, labels);
    else {
      const sorted = await newestFirst(directory, names, { runtime, stepMs: MTIME_STEP_MS, signal });
      found = { entries: sorted.names.map((name) => ({ text: labels.get(name) ?? name })), undated: sorted.undated };
    }
    return page(found, args, run, filter.hidden(), timeoutMs);
  }

  async function run(args: GrepArguments, target: Target, context: RunContext): Promise<ToolResult> {
    const moved = await movedSince(target, context.runtime);
    if (moved) return failed(moved);
    try {
      return await search(args, target, context);
    } catch (error) {
      if (context.signal.aborted) return failed('Interrupted by user');
      if (error instanceof SearchError) return failed(error.message);
      throw error;
    }
  }

  return defineTool({
    name: 'Grep',
    permission: 'read',
    effects: 'none',
    description: [
      'Searches file contents with ripgrep. Hidden files are included; ignored files, version control directories and files that hold secrets are not.',
      `Returns at most ${GREP_DEFAULT_HEAD_LIMIT} entries unless head_limit says otherwise; page with offset. A search ends after ${SEARCH_TIMEOUT_MS / 1000} seconds.`,
      'Patterns are regular expressions: escape braces and brackets that are meant literally.',
    ].join('\n'),
    parameters,
    async prepare(args, environment) {
      const target = await resolveTarget(args.path ?? '.', environment);
      return {
        accesses: [{ kind: 'file', ...target, mode: 'read', recursive: true }],
        label: `Searching for '${args.pattern}' in ${args.path ?? target.path}`,
        display: { kind: 'file_io', operation: 'grep', path: target.path },
        subject: { text: args.pattern, match: 'glob' },
        run: (context) => run(args, target, context),
      };
    },
  });
}
