/** Read: returns a window of a text file with line numbers. */
import * as z from 'zod';
import { cutText } from '#server/text/truncate.ts';
import { createLineScanner } from '#server/files/line-scanner.ts';
import type { LineScan, LineScanner, ScannedLine } from '#server/files/line-scanner.ts';
import { mediaType } from '#server/files/media-types.ts';
import type { Target } from '#server/runtime/path-policy.ts';
import { resolveFile } from '#server/permissions/resolve-file.ts';
import {
  decodeOrRefuse,
  decodeText,
  NotTextError,
  refuseBinary,
  SNIFF_BYTES,
  sniffEncoding,
  textDecoder,
  UTF16_MAX_BYTES,
} from '#server/files/text-encoding.ts';
import type { OpenFile } from '#server/runtime/runtime.ts';
import type { TextEncoding } from '#server/files/text-encoding.ts';
import { readTarget } from './read-target.ts';
import { defineTool, failed } from '#server/tools/tool.ts';
import type { RunContext, ToolResult } from '#server/tools/tool.ts';

export const READ_MAX_LINES = 1000;
export const READ_MAX_BYTES = 100 * 1024;
export const READ_MAX_LINE_CHARS = 2000;
const READ_CHUNK_BYTES = 256 * 1024;
const LINE_CUT_MARKER = '...';

const parameters = z.object({
  path: z.string().describe('File to read. Relative paths start at the working directory.'),
  line_offset: z
    .union([z.int().min(1), z.int().min(-READ_MAX_LINES).max(-1)], {
      error: `must be at least 1, or between -${READ_MAX_LINES} and -1`,
    })
    .optional()
    .describe(`First line to read, counted from 1; a negative number counts from the end. Default 1.`),
  n_lines: z.int().min(1).optional().describe(`How many lines to read. Default and maximum ${READ_MAX_LINES}.`),
});
type ReadArguments = z.output<typeof parameters>;

interface Rendered {
  output: string;
  shown: ScannedLine[];
  cutLines: number[];
  bytesReached: boolean;
}

/** Renders `<number>\t<text>` per line, up to the byte limit. */
function render(scan: LineScan): Rendered {
  const rows: string[] = [];
  const cutLines: number[] = [];
  let bytes = 0;
  for (const line of scan.lines) {
    const raw = scan.endings === 'crlf' && !line.cut ? line.text.replace(/\r$/, '') : line.text;
    const text = scan.endings === 'mixed' ? raw.replaceAll('\r', '\\r') : raw;
    const cut = line.cut || text.length > READ_MAX_LINE_CHARS;
    const shown = cut ? cutText(text, READ_MAX_LINE_CHARS - LINE_CUT_MARKER.length) + LINE_CUT_MARKER : text;
    const row = `${line.number}\t${shown}`;
    bytes += Buffer.byteLength(row) + 1;
    if (bytes > READ_MAX_BYTES)
      return { output: rows.join('\n'), shown: scan.lines.slice(0, rows.length), cutLines, bytesReached: true };
    rows.push(row);
    if (cut) cutLines.push(line.number);
  }
  return { output: rows.join('\n'), shown: scan.lines, cutLines, bytesReached: false };
}

/** The status that the model receives in addition to the text. */
function status(scan: LineScan, rendered: Rendered, args: ReadArguments, encoding: TextEncoding): string {
  const first = rendered.shown[0];
  const last = rendered.shown.at(-1);
  const notes = [
    first ? `${rendered.shown.length} lines read, starting at line ${first.number}.` : 'No lines read.',
    `Total lines: ${scan.total}.`,
  ];
  const limitedByCount = !rendered.bytesReached && last !== undefined && last.number < scan.total;
  if (rendered.bytesReached)
    notes.push(`The limit of ${READ_MAX_BYTES} bytes was reached; go on with line_offset ${(last?.number ?? 0) + 1}.`);
  else if (
    limitedByCount &&
    rendered.shown.length === READ_MAX_LINES &&
    (args.n_lines ?? READ_MAX_LINES) >= READ_MAX_LINES
  ) {
    notes.push(`The limit of ${READ_MAX_LINES} lines was reached; go on with line_offset ${last.number + 1}.`);
  } else if (!limitedByCount) notes.push('End of file reached.');
  if (rendered.cutLines.length > 0)
    notes.push(`Lines cut to ${READ_MAX_LINE_CHARS} characters: ${rendered.cutLines.join(', ')}.`);
  if (scan.endings === 'mixed') notes.push('Mixed line endings: carriage returns are shown as \\r.');
  if (scan.endings === 'crlf') notes.push('Line endings are CRLF, shown as LF.');
  if (encoding !== 'utf-8') notes.push(`Detected encoding: ${encoding.toUpperCase()}.`);
  return `<system>${notes.join(' ')}</system>`;
}

/** The file's bytes in chunks; the first is large enough to detect the encoding. */
async function* pieces(file: OpenFile, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  // One byte more than expected: a shorter chunk is the end, which saves another read.
  let wanted = Math.min(Math.max(file.stats.size + 1, SNIFF_BYTES), READ_CHUNK_BYTES);
  for (;;) {
    signal.throwIfAborted();
    const piece = await file.read(wanted);
    if (piece.length > 0) yield piece;
    if (piece.length < wanted) return;
    wanted = READ_CHUNK_BYTES;
  }
}

/** Decodes in chunks, so that memory is bounded for any file size. */
async function scanUtf8(file: AsyncIterable<Uint8Array>, scanner: LineScanner): Promise<void> {
  const decoder = textDecoder('utf-8');
  let first = true;
  const feed = (text: string) => {
    refuseBinary(text);
    scanner.write(first && text.startsWith('\uFEFF') ? text.slice(1) : text);
    if (text) first = false;
  };
  for await (const piece of file) feed(decodeOrRefuse(() => decoder.decode(piece, { stream: true })));
  feed(decodeOrRefuse(() => decoder.decode()));
}

async function readLines(file: OpenFile, args: ReadArguments, signal: AbortSignal) {
  const rest = pieces(file, signal);
  const { value: head = new Uint8Array() } = await rest.next();
  const media = mediaType(head);
  if (media) throw new NotTextError(`it is ${media.startsWith('image/') ? 'an image' : 'a video'}`);
  const encoding = sniffEncoding(head.subarray(0, SNIFF_BYTES));
  if (encoding !== 'utf-8' && file.stats.size > UTF16_MAX_BYTES) {
    throw new NotTextError(`UTF-16 files can be read up to ${UTF16_MAX_BYTES} bytes`);
  }
  async function* all() {
    yield head;
    yield* rest;
  }
  const scanner = createLineScanner({
    start: args.line_offset ?? 1,
    count: Math.min(args.n_lines ?? READ_MAX_LINES, READ_MAX_LINES),
    // One more for the CR of the longest line that is returned whole.
    maxChars: READ_MAX_LINE_CHARS + 1,
  });
  if (encoding === 'utf-8') await scanUtf8(all(), scanner);
  else {
    const bytes: Uint8Array[] = [];
    for await (const piece of all()) bytes.push(piece);
    scanner.write(decodeText(Buffer.concat(bytes), encoding).replace(/^\uFEFF/, ''));
  }
  return { scan: scanner.end(), encoding };
}

async function readOpened(file: OpenFile, args: ReadArguments, target: Target, signal: AbortSignal) {
  const { stats } = file;
  if (stats.isDirectory()) return failed(`${args.path} is a directory. Use Glob or Bash to list it.`);
  if (!stats.isFile()) return failed(`${args.path} is not a regular file.`);
  const { scan, encoding } = await readLines(file, args, signal);
  const rendered = render(scan);
  return {
    output: rendered.output,
    note: status(scan, rendered, args, encoding),
    files: [{ path: target.path, mtimeMs: stats.mtimeMs }],
  };
}

async function run(args: ReadArguments, target: Target, context: RunContext): Promise<ToolResult> {
  return readTarget(args.path, target, context, async (file) => {
    try {
      return await readOpened(file, args, target, context.signal);
    } catch (error) {
      if (!(error instanceof NotTextError) || context.signal.aborted) throw error;
      const hint = context.activeTools.has('ReadMediaFile') ? ' Use ReadMediaFile for images and videos.' : '';
      return failed(`${args.path} cannot be read as text: ${error.message}.${hint}`);
    }
  });
}

export const readTool = defineTool({
  name: 'Read',
  permission: 'read',
  effects: 'none',
  description: [
    'Reads a text file and returns its lines as `<line number>\\t<text>`.',
    `At most ${READ_MAX_LINES} lines and ${READ_MAX_BYTES / 1024} KiB a call; longer lines are cut at ${READ_MAX_LINE_CHARS} characters. A status in <system> tells how much there is; page with line_offset and n_lines.`,
    'UTF-8 and UTF-16 are understood. Images, videos, other binary files and directories are refused, and so are files that hold secrets, such as .env.',
    'Read several files in one response when you need them; a file must be read before it is edited or overwritten.',
  ].join('\n'),
  parameters,
  async prepare(args, environment) {
    const target = await resolveFile(args.path, environment);
    return {
      accesses: [{ kind: 'file', ...target, mode: 'read' }],
      label: `Reading ${args.path}`,
      display: { kind: 'file_io', operation: 'read', path: target.path },
      subject: { text: target.path, match: 'path' },
      run: (context) => run(args, target, context),
    };
  },
});
