/** Glob: finds files by name. */
import { basename, join, sep } from 'node:path';
import * as z from 'zod';
import { createOutputBuilder } from '#server/text/truncate.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { fileGlob } from '#server/files/globs.ts';
import { isInside } from '#server/files/paths.ts';
import { directoryProblem, resolveTarget } from '#server/runtime/path-policy.ts';
import type { Target } from '#server/runtime/path-policy.ts';
import { commonArguments, runRipgrep, SearchError, stripDot } from '#server/ripgrep/ripgrep.ts';
import type { SearchOptions } from '#server/ripgrep/ripgrep.ts';
import { newestFirst } from '#server/ripgrep/search-scope.ts';
import { createSearchFilter } from '#server/permissions/search-filter.ts';
import { defineTool, failed, ToolInputError } from '#server/tools/tool.ts';
import type { RunContext, Tool, ToolResult } from '#server/tools/tool.ts';

export const GLOB_MAX_FILES = 100;
/** Enough for the names of some hundred thousand files. */
export const GLOB_MAX_STDOUT_BYTES = 64 * 1024 * 1024;

const parameters = z.object({
  pattern: z
    .string()
    .min(1)
    .describe('Glob such as `src/**/*.ts`, relative to path; without a slash it matches file names at any depth.'),
  path: z.string().optional().describe('Directory to search. Default is the working directory.'),
  include_ignored: z.boolean().optional().describe('Also find files that ignore files such as .gitignore exclude.'),
  include_dirs: z.boolean().optional().describe('Accepted without effect: only files are returned.'),
});
type GlobArguments = z.output<typeof parameters>;

/** Matches names in our code, because ripgrep's own globs would override ignore files. A leading `!` negates. */
function nameMatcher(given: string): (name: string) => boolean {
  const negated = given.startsWith('!');
  const pattern = given.slice(negated ? 1 : 0).replace(/^(\.\/)+/, '');
  let matches: (name: string) => boolean;
  try {
    matches = fileGlob(pattern);
  } catch (error) {
    throw new ToolInputError(`${given} is no glob: ${errorMessage(error)}`);
  }
  const byBaseName = !pattern.includes('/');
  return (name) => matches(byBaseName ? basename(name) : name.split(sep).join('/')) !== negated;
}

function display(args: GlobArguments, root: string) {
  const details = [`pattern: ${args.pattern}`];
  if (args.path !== undefined) details.push(`path: ${args.path}`);
  if (args.include_ignored) details.push('include_ignored: true');
  return { kind: 'file_io' as const, operation: 'glob' as const, path: root, detail: details.join(', ') };
}

/** Creates the tool; `options` exist for tests and for other locations of the ripgrep binary. */
export function createGlobTool(options: SearchOptions = {}): Tool {
  type Matcher = ReturnType<typeof nameMatcher>;

  async function search(matches: Matcher, args: GlobArguments, target: Target, context: RunContext) {
    const { runtime, signal, cwd } = context;
    const filter = await createSearchFilter(target.path, target, context);
    const { records, stopped } = await runRipgrep(
      {
        runtime,
        args: [...commonArguments([], args.include_ignored ?? false), '--files', '--', './'],
        cwd: target.path,
        workspace: cwd,
        signal,
        maxBytes: GLOB_MAX_STDOUT_BYTES,
        separator: '\0',
        keep(record) {
          const name = stripDot(record);
          return matches(name) && filter.shows(name);
        },
      },
      options,
    );
    const found = await newestFirst(target.path, records.map(stripDot), { runtime, stepMs: 1, signal });
    return { ...found, stopped, hidden: filter.hidden() };
  }

  async function run(matches: Matcher, args: GlobArguments, target: Target, context: RunContext): Promise<ToolResult> {
    const problem = await directoryProblem(target, context.runtime);
    if (problem) return failed(problem);
    let found: Awaited<ReturnType<typeof search>>;
    try {
      found = await search(matches, args, target, context);
    } catch (error) {
      if (context.signal.aborted) return failed('Interrupted by user');
      if (error instanceof SearchError) return failed(error.message);
      throw error;
    }
    const { names, undated, stopped, hidden } = found;
    const notices: string[] = [];
    if (names.length > GLOB_MAX_FILES) {
      notices.push(`[${GLOB_MAX_FILES} of ${names.length} files shown; use a narrower pattern.]`);
    }
    if (undated > 0) notices.push(`[Too many files: ${undated} of them were left out of the order by age.]`);
    if (stopped) notices.push('[The search was stopped before its end; results are incomplete.]');
    if (hidden > 0) notices.push(`[${hidden} sensitive ${hidden === 1 ? 'file is' : 'files are'} not shown.]`);
    const inCwd = isInside(target.path, context.cwd);
    const builder = createOutputBuilder();
    if (names.length === 0) builder.write('No files found.\n');
    for (const name of names.slice(0, GLOB_MAX_FILES)) builder.write(`${inCwd ? name : join(target.path, name)}\n`);
    const { output, truncated } = builder.finish(notices);
    return { output: output.replace(/\n$/, ''), ...(truncated ? { truncated } : {}) };
  }

  return defineTool({
    name: 'Glob',
    permission: 'read',
    effects: 'none',
    description: [
      `Finds files by name pattern and returns up to ${GLOB_MAX_FILES} paths, most recently changed first.`,
      'Hidden files are included; ignored files, version control directories and files that hold secrets are not. Paths are relative to the searched directory when it lies in the working directory.',
    ].join('\n'),
    parameters,
    async prepare(args, environment) {
      const matches = nameMatcher(args.pattern);
      const target = await resolveTarget(args.path ?? '.', environment);
      return {
        accesses: [{ kind: 'file', ...target, mode: 'read', recursive: true }],
        label: `Searching ${args.pattern}`,
        display: display(args, target.path),
        subject: { text: args.pattern, match: 'glob' },
        run: (context) => run(matches, args, target, context),
      };
    },
  });
}
