/** Edit: exact text replacement in an existing file. */
import * as z from 'zod';
import { errorMessage } from '#server/errors/service-error.ts';
import { regularFileProblem } from '#server/files/file-kind.ts';
import { movedSince } from '#server/runtime/path-policy.ts';
import type { Target } from '#server/runtime/path-policy.ts';
import { resolveFile } from '#server/permissions/resolve-file.ts';
import { holdsPrivateKey, sensitiveText } from '#server/permissions/sensitive-files.ts';
import { decodeText, encodeText, sniffEncoding, SNIFF_BYTES } from '#server/files/text-encoding.ts';
import { defineTool, failed, ToolInputError } from '#server/tools/tool.ts';
import type { RunContext, ToolResult } from '#server/tools/tool.ts';

/** Size limit: the file is in memory several times during an edit. */
export const EDIT_MAX_BYTES = 64 * 1024 * 1024;

const parameters = z.object({
  path: z.string().describe('File to edit. Relative paths start at the working directory.'),
  old_string: z.string().min(1).describe('Text to replace, exactly as it stands in the file.'),
  new_string: z.string().describe('Text to put in its place.'),
  replace_all: z.boolean().optional().describe('Replace every occurrence instead of exactly one.'),
});
type EditArguments = z.output<typeof parameters>;

/** Whether every CR and every LF is part of a CRLF. */
const isPureCrlf = (text: string) => /\r\n/.test(text) && !/\r(?!\n)|(?<!\r)\n/.test(text);

const toLf = (text: string) => text.replaceAll('\r\n', '\n');
const toCrlf = (text: string) => text.replaceAll('\n', '\r\n');

/** Replaces the old text; in a pure CRLF file in its LF form, so that the model need not write CRs. */
function replacePieces(text: string, args: EditArguments): { count: number; replaced: string } {
  const crlf = isPureCrlf(text);
  const [view, before, after] = crlf
    ? [toLf(text), toLf(args.old_string), toLf(args.new_string)]
    : [text, args.old_string, args.new_string];
  const pieces = view.split(before);
  const replaced = pieces.join(after);
  return { count: pieces.length - 1, replaced: crlf ? toCrlf(replaced) : replaced };
}

async function run(args: EditArguments, target: Target, { runtime }: RunContext): Promise<ToolResult> {
  const stats = await runtime.stat(target.real).catch(() => undefined);
  const problem = (await movedSince(target, runtime)) ?? (stats && regularFileProblem(target.real, stats));
  if (problem) return failed(problem);
  if (!stats) return failed(`${args.path} does not exist. Use Write to create it.`);
  if (stats.size > EDIT_MAX_BYTES) return failed(`${args.path} is larger than ${EDIT_MAX_BYTES} bytes.`);
  try {
    const bytes = await runtime.readFile(target.real, { maxBytes: EDIT_MAX_BYTES });
    if (holdsPrivateKey(bytes)) return failed(sensitiveText(args.path));
    const encoding = sniffEncoding(bytes.subarray(0, SNIFF_BYTES));
    const { count, replaced } = replacePieces(decodeText(bytes, encoding), args);
    if (count === 0) return failed(`old_string was not found in ${args.path}.`);
    if (count > 1 && !args.replace_all) {
      return failed(
        `old_string occurs ${count} times in ${args.path}. Add surrounding text to make it unique, or set replace_all.`,
      );
    }
    const { mtimeMs } = await runtime.writeFile(target.real, encodeText(replaced, encoding));
    return {
      output: `Replaced ${count} ${count === 1 ? 'occurrence' : 'occurrences'} in ${args.path}.`,
      files: [{ path: target.path, mtimeMs }],
    };
  } catch (error) {
    return failed(`${args.path} cannot be edited: ${errorMessage(error)}`);
  }
}

export const editTool = defineTool({
  name: 'Edit',
  permission: 'write',
  effects: 'workspace',
  description: [
    'Replaces text in a file that was read before. old_string must match exactly, indentation included and without the line numbers that Read shows.',
    'It must occur exactly once unless replace_all is set. In files with CRLF line endings write plain line breaks; CRLF is kept.',
    'Files that hold secrets, such as .env, are refused.',
  ].join('\n'),
  parameters,
  async prepare(args, environment) {
    const target = await resolveFile(args.path, environment);
    if (args.old_string === args.new_string) throw new ToolInputError('old_string and new_string are identical.');
    return {
      accesses: [{ kind: 'file', ...target, mode: 'read-write' }],
      label: `Editing ${args.path}`,
      display: {
        kind: 'file_io',
        operation: 'edit',
        path: target.path,
        before: args.old_string,
        after: args.new_string,
      },
      subject: { text: target.path, match: 'path' },
      run: (context) => run(args, target, context),
    };
  },
});
