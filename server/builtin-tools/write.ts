/** Write: creates, replaces or extends a file. */
import * as z from 'zod';
import { errorMessage } from '#server/errors/service-error.ts';
import { regularFileProblem } from '#server/files/file-kind.ts';
import { movedSince } from '#server/runtime/path-policy.ts';
import type { Target } from '#server/runtime/path-policy.ts';
import { resolveFile } from '#server/permissions/resolve-file.ts';
import { defineTool, failed } from '#server/tools/tool.ts';
import type { RunContext, ToolResult } from '#server/tools/tool.ts';

const parameters = z.object({
  path: z.string().describe('File to write. Relative paths start at the working directory.'),
  content: z.string().describe('The text, written verbatim.'),
  mode: z
    .enum(['overwrite', 'append'])
    .optional()
    .describe('`overwrite` (default) replaces the whole file, `append` adds at its end.'),
});
type WriteArguments = z.output<typeof parameters>;

async function run(args: WriteArguments, target: Target, { runtime }: RunContext): Promise<ToolResult> {
  const before = await runtime.stat(target.real).catch(() => undefined);
  const problem = (await movedSince(target, runtime)) ?? (before && regularFileProblem(target.real, before));
  if (problem) return failed(problem);
  const append = args.mode === 'append';
  try {
    const { mtimeMs } = await runtime.writeFile(target.real, args.content, { append });
    const bytes = Buffer.byteLength(args.content);
    return {
      output: `${append ? 'Appended' : 'Wrote'} ${bytes} bytes to ${args.path}.`,
      files: [{ path: target.path, mtimeMs }],
    };
  } catch (error) {
    return failed(`${args.path} cannot be written: ${errorMessage(error)}`);
  }
}

export const writeTool = defineTool({
  name: 'Write',
  permission: 'write',
  effects: 'workspace',
  description: [
    'Writes a file, creating missing parent directories. The content is written exactly as given.',
    'An existing file must have been read before. Prefer Edit for changes to part of a file.',
    'Files that hold secrets, such as .env, are refused.',
  ].join('\n'),
  parameters,
  async prepare(args, environment) {
    const target = await resolveFile(args.path, environment);
    return {
      accesses: [{ kind: 'file', ...target, mode: 'write' }],
      label: `Writing ${args.path}`,
      display: { kind: 'file_io', operation: 'write', path: target.path, content: args.content },
      subject: { text: target.path, match: 'path' },
      run: (context) => run(args, target, context),
    };
  },
});
