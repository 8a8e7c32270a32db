/** Grep: content search with ripgrep (engine.md §5.5). */
import { join } from 'node:path';
import { z } from 'zod';
import { createOutputBuilder } from '#server/bounded-text.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { movedSince, resolveTarget } from '#server/files/paths.ts';
import type { Target } from '#server/files/paths.ts';
import { commonArguments, findRipgrep, runRipgrep, SEARCH_TIMEOUT_MS } from '#server/files/ripgrep.ts';
import type { SearchRun } from '#server/files/ripgrep.ts';
import {
  displayPath,
  inPathOrder,
  visibilityIn,
  newestFirst,
  searchScope,
  stripDot,
} from '#server/files/search-scope.ts';
import { defineTool, failed } from './tool.ts';
import type { RunContext, Tool, ToolResult } from './tool.ts';

export const GREP_DEFAULT_HEAD_LIMIT = 250;
export const GREP_MAX_STDOUT_BYTES = 10 * 1024 * 1024;
const MTIME_STEP_MS = 1000;

export interface SearchOptions {
  /** Where ripgrep is; asked at every call. */
  ripgrep?: () => Promise<string | undefined>;
  timeoutMs?: number;
}

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
  /** Stands before the entries. */
  heading?: string;
}

function modeArguments(args: GrepArguments): string[] {
  const mode = args.output_mode ?? 'files_with_matches';
  if (mode === 'files_with_matches') return ['--files-with-matches'];
  if (mode === 'count_matches') return ['--count-matches', '--with-filename'];
  // Line numbers are always asked for: they tell a match from a context line.
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

/** Drops files that must not be shown, and counts the sensitive ones among them. */
interface Filter {
  shows(name: string): boolean;
  hidden(): number;
}

async function createFilter(directory: string, target: Target, cwd: string): Promise<Filter> {
  const visibility = await visibilityIn(directory, target, cwd);
  /** A file may have hundred thousands of rows: each is judged once. */
  const judged = new Map<string, boolean>();
  let hidden = 0;
  return {
    shows(name) {
      const known = judged.get(name);
      if (known !== undefined) return known;
      const excluded = visibility.versionControl(name);
      const sensitive = !excluded && visibility.sensitive(name);
      if (sensitive) hidden++;
      judged.set(name, !excluded && !sensitive);
      return !excluded && !sensitive;
    },
    hidden: () => hidden,
  };
}

/** A search that was stopped may end in the middle of a record. */
function records(run: SearchRun, separator: string): string[] {
  const parts = run.stdout.split(separator);
  parts.pop();
  return parts;
}

type Show = (name: string) => string;

async function fileEntries(run: SearchRun, directory: string, filter: Filter, show: Show): Promise<Found> {
  const names = records(run, '\0').map(stripDot).filter(filter.shows);
  const sorted = await newestFirst(directory, names, MTIME_STEP_MS);
  return { entries: sorted.map((name) => ({ text: show(name) })) };
}

function countEntries(run: SearchRun, filter: Filter, show: Show): Found {
  const counts = new Map<string, number>();
  for (const row of records(run, '\n')) {
    const at = row.indexOf('\0');
    const name = stripDot(row.slice(0, at));
    if (at !== -1 && filter.shows(name)) counts.set(name, Number(row.slice(at + 1)));
  }
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const entries = inPathOrder([...counts.keys()]).map((name) => ({ text: `${show(name)}:${counts.get(name)}` }));
  return { entries, heading: `${total} matches in ${counts.size} files.` };
}

/** ripgrep prints a file's rows together, the files in any order: here they come in path order, so that offsets hold. */
function contentEntries(run: SearchRun, filter: Filter, show: Show, numbers: boolean): Found {
  const files = new Map<string, Entry[]>();
  const shownNames = new Map<string, string>();
  const shown = (name: string) => {
    const known = shownNames.get(name) ?? show(name);
    shownNames.set(name, known);
    return known;
  };
  let block = 0;
  for (const row of records(run, '\n')) {
    if (row === '--') {
      block++;
      continue;
    }
    const at = row.indexOf('\0');
    const line = /^(\d+)([:-])([\s\S]*)$/.exec(row.slice(at + 1));
    if (at === -1 || !line) continue;
    const name = stripDot(row.slice(0, at));
    if (!filter.shows(name)) continue;
    const [, number, mark, text = ''] = line;
    const where = numbers ? `${mark}${number}${mark}` : mark;
    const rows = files.get(name) ?? [];
    files.set(name, rows);
    rows.push({ text: `${shown(name)}${where}${text.replace(/\r$/, '')}`, block });
  }
  return { entries: inPathOrder([...files.keys()]).flatMap((name) => files.get(name) ?? []) };
}

/** The requested page of entries with what the model must know about the rest behind it. */
function page(found: Found, args: GrepArguments, run: SearchRun, hidden: number, timeoutMs: number): ToolResult {
  const offset = args.offset ?? 0;
  const limit = args.head_limit ?? GREP_DEFAULT_HEAD_LIMIT;
  const end = limit === 0 ? found.entries.length : Math.min(found.entries.length, offset + limit);
  const shown = found.entries.slice(offset, end);
  const notices: string[] = [];
  if (end < found.entries.length) {
    notices.push(`[${shown.length} of ${found.entries.length} results shown; go on with offset ${end}.]`);
  }
  if (run.ended === 'timeout')
    notices.push(`[The search was stopped after ${timeoutMs / 1000} s; results are incomplete.]`);
  if (run.ended === 'limit')
    notices.push(`[The search was stopped at ${GREP_MAX_STDOUT_BYTES} bytes; results are incomplete.]`);
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

/** Makes the tool; `options` exist for tests and for other places of the binary. */
export function createGrepTool(options: SearchOptions = {}): Tool {
  const ripgrep = options.ripgrep ?? findRipgrep;
  const timeoutMs = options.timeoutMs ?? SEARCH_TIMEOUT_MS;

  async function run(args: GrepArguments, target: Target, context: RunContext): Promise<ToolResult> {
    const moved = await movedSince(target);
    if (moved) return failed(moved);
    const scope = await searchScope(target);
    if (!scope) return failed(`${args.path ?? target.path} does not exist.`);
    const binary = await ripgrep();
    if (!binary) return failed('ripgrep (rg) is not installed.');
    const filter = await createFilter(scope.directory, target, context.cwd);
    const request = {
      ripgrep: binary,
      args: ripgrepArguments(args, scope.argument),
      cwd: scope.directory,
      signal: context.signal,
      maxBytes: GREP_MAX_STDOUT_BYTES,
      timeoutMs,
    };
    let search: SearchRun;
    try {
      search = await runRipgrep(request);
    } catch (error) {
      return failed(`ripgrep could not be started: ${errorMessage(error)}`);
    }
    if (search.ended === 'aborted') return failed('Interrupted by user');
    if (search.ended === 'timeout' && !search.stdout)
      return failed(`The search found nothing in ${timeoutMs / 1000} s and was stopped.`);
    if (search.exitCode === 2 && !search.stdout && search.stderr) return failed(search.stderr.trim());
    const show = (name: string) => displayPath(join(scope.directory, name), context.cwd);
    const found =
      args.output_mode === 'content'
        ? contentEntries(search, filter, show, args['-n'] ?? true)
        : args.output_mode === 'count_matches'
          ? countEntries(search, filter, show)
          : await fileEntries(search, scope.directory, filter, show);
    return page(found, args, search, filter.hidden(), timeoutMs);
  }

  return defineTool({
    name: 'Grep',
    description: [
      'Searches file contents with ripgrep. Hidden files are included; ignored files, version control directories and files that hold secrets are not.',
      `Returns at most ${GREP_DEFAULT_HEAD_LIMIT} entries unless head_limit says otherwise; page with offset. A search ends after ${SEARCH_TIMEOUT_MS / 1000} seconds.`,
      'Patterns are regular expressions: escape braces and brackets that are meant literally.',
    ].join('\n'),
    parameters,
    async prepare(args, environment) {
      const target = await resolveTarget(args.path ?? '.', environment);
      return {
        accesses: [{ kind: 'file', path: target.path, mode: 'read', recursive: true }],
        label: `Searching for '${args.pattern}' in ${args.path ?? target.path}`,
        display: { kind: 'file_io', operation: 'grep', path: target.path },
        subject: { text: args.pattern, match: 'glob' },
        run: (context) => run(args, target, context),
      };
    },
  });
}
