/** Glob: finding files by name (engine.md §5.6). */
import { basename, join, sep } from 'node:path';
import picomatch from 'picomatch';
import { z } from 'zod';
import { createOutputBuilder } from '#server/bounded-text.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import type { SearchOptions } from './grep.ts';
import { directoryProblem, isInside, movedSince, resolveTarget } from '#server/files/paths.ts';
import type { Target } from '#server/files/paths.ts';
import { commonArguments, findRipgrep, runRipgrep, SEARCH_TIMEOUT_MS } from '#server/files/ripgrep.ts';
import type { SearchRun } from '#server/files/ripgrep.ts';
import { newestFirst, stripDot, visibilityIn } from '#server/files/search-scope.ts';
import { defineTool, failed } from './tool.ts';
import type { RunContext, Tool, ToolResult } from './tool.ts';

export const GLOB_MAX_FILES = 100;
/** Names of some hundred thousand files. */
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

/** The patterns are ours to match: ripgrep's own globs would override ignore files. */
function nameMatcher(pattern: string): (name: string) => boolean {
  const matches = picomatch(pattern.replace(/^(\.\/)+/, ''), { dot: true });
  const byBaseName = !pattern.includes('/');
  return (name) => matches(byBaseName ? basename(name) : name.split(sep).join('/'));
}

function display(args: GlobArguments, root: string) {
  const details = [`pattern: ${args.pattern}`];
  if (args.path !== undefined) details.push(`path: ${args.path}`);
  if (args.include_ignored) details.push('include_ignored: true');
  return { kind: 'file_io' as const, operation: 'glob' as const, path: root, detail: details.join(', ') };
}

/** Makes the tool; `options` exist for tests and for other places of the binary. */
export function createGlobTool(options: SearchOptions = {}): Tool {
  const ripgrep = options.ripgrep ?? findRipgrep;
  const timeoutMs = options.timeoutMs ?? SEARCH_TIMEOUT_MS;

  async function run(args: GlobArguments, target: Target, context: RunContext): Promise<ToolResult> {
    const problem = (await movedSince(target)) ?? (await directoryProblem(target.path));
    if (problem) return failed(problem);
    const binary = await ripgrep();
    if (!binary) return failed('ripgrep (rg) is not installed.');
    let search: SearchRun;
    try {
      search = await runRipgrep({
        ripgrep: binary,
        args: [...commonArguments([], args.include_ignored ?? false), '--files', '--', './'],
        cwd: target.path,
        signal: context.signal,
        maxBytes: GLOB_MAX_STDOUT_BYTES,
        timeoutMs,
      });
    } catch (error) {
      return failed(`ripgrep could not be started: ${errorMessage(error)}`);
    }
    if (search.ended === 'aborted') return failed('Interrupted by user');
    if (search.ended === 'timeout' && !search.stdout)
      return failed(`The search found nothing in ${timeoutMs / 1000} s and was stopped.`);
    if (search.exitCode === 2 && !search.stdout && search.stderr) return failed(search.stderr.trim());

    const matches = nameMatcher(args.pattern);
    const visibility = await visibilityIn(target.path, target, context.cwd);
    const listed = search.stdout.split('\0').slice(0, -1).map(stripDot).filter(matches);
    const allowed = listed.filter((name) => !visibility.versionControl(name));
    const names = allowed.filter((name) => !visibility.sensitive(name));
    const sorted = await newestFirst(target.path, names, 1);

    const notices: string[] = [];
    if (sorted.length > GLOB_MAX_FILES)
      notices.push(`[${GLOB_MAX_FILES} of ${sorted.length} files shown; use a narrower pattern.]`);
    if (search.ended !== 'exit') notices.push('[The search was stopped before its end; results are incomplete.]');
    const hidden = allowed.length - names.length;
    if (hidden > 0) notices.push(`[${hidden} sensitive ${hidden === 1 ? 'file is' : 'files are'} not shown.]`);
    const inCwd = isInside(target.path, context.cwd);
    const builder = createOutputBuilder();
    if (sorted.length === 0) builder.write('No files found.\n');
    for (const name of sorted.slice(0, GLOB_MAX_FILES)) builder.write(`${inCwd ? name : join(target.path, name)}\n`);
    const { output, truncated } = builder.finish(notices);
    return { output: output.replace(/\n$/, ''), ...(truncated ? { truncated } : {}) };
  }

  return defineTool({
    name: 'Glob',
    description: [
      `Finds files by name pattern and returns up to ${GLOB_MAX_FILES} paths, most recently changed first.`,
      'Hidden files are included; ignored files, version control directories and files that hold secrets are not. Paths are relative to the searched directory when it lies in the working directory.',
    ].join('\n'),
    parameters,
    async prepare(args, environment) {
      const target = await resolveTarget(args.path ?? '.', environment);
      return {
        accesses: [{ kind: 'file', path: target.path, mode: 'read', recursive: true }],
        label: `Searching ${args.pattern}`,
        display: display(args, target.path),
        subject: { text: args.pattern, match: 'glob' },
        run: (context) => run(args, target, context),
      };
    },
  });
}
