/** Reads a window of a file, decoded as text where possible. */
import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { ServiceError } from '#server/errors/service-error.ts';
import { etagOf } from '#server/files/etag.ts';
import {
  characterEnd,
  decodeUtf8,
  fileEncoding,
  LEGACY_SAMPLE_BYTES,
  toUtf8,
  type FileEncoding,
} from '#server/files/file-text.ts';
import { fileType } from '#server/files/file-types.ts';
import { openRegular, readBytes } from '#server/files/open-regular.ts';
import { within, type OpenPath } from '#server/files/open-within.ts';
import { onPath, pathIsDirectory, pathNotFound } from '#server/files/path-error.ts';
import { relativePath, type WorkDirectory } from '#server/files/work-directory.ts';
import type { FileContent, ReadFile } from '#schema/rest/file-content.ts';

/** Larger files are refused, even if only a part is requested. */
export const READ_MAX_BYTES = 10_485_760;

/** Maximum bytes of a character, in which a window may start or end. */
const CHARACTER_BYTES = 4;

/** Opens a place's regular file for reading. Throws `fs.is_directory`; `fs.path_not_found` for a pipe or device. */
export async function openFileOf(place: OpenPath, shown: string): Promise<FileHandle> {
  const stats = await place.stat();
  if (stats.isDirectory()) throw pathIsDirectory(shown);
  // Except on Linux, another process may replace it before it is opened.
  const file = stats.isFile() ? await openRegular(place.at) : undefined;
  if (!file) throw pathNotFound(shown);
  try {
    await place.confirm();
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

interface Window {
  text: string;
  lines: number;
  truncated: boolean;
}

function countLineEnds(text: string): number {
  let ends = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) ends++;
  return ends;
}

/** Decodes a window of UTF-8 bytes; `base` is the offset of `bytes` in the text and `size` the length of the text. */
async function textWindow(
  bytes: Buffer,
  base: number,
  size: number,
  { offset, length }: Pick<ReadFile, 'offset' | 'length'>,
): Promise<Window> {
  const start = characterEnd(bytes, Math.min(offset - base, bytes.length));
  const end = characterEnd(bytes, Math.min(offset - base + length, bytes.length));
  const pieces: string[] = [];
  let ends = 0;
  for await (const piece of decodeUtf8(bytes.subarray(start, end))) {
    pieces.push(piece);
    ends += countLineEnds(piece);
  }
  const text = pieces.join('');
  // A final line end adds no line.
  const lines = text === '' || text.endsWith('\n') ? ends : ends + 1;
  return { text, lines, truncated: base + end < size };
}

async function readText(
  file: FileHandle,
  encoding: FileEncoding,
  size: number,
  window: Pick<ReadFile, 'offset' | 'length'>,
): Promise<Window> {
  if (encoding !== 'utf-8') {
    const bytes = await toUtf8(await readBytes(file, 0, size), encoding);
    return textWindow(bytes, 0, bytes.length, window);
  }
  const { offset, length } = window;
  if (offset >= size) return { text: '', lines: 0, truncated: false };
  const base = Math.max(0, offset - CHARACTER_BYTES);
  const wanted = Math.min(size, offset + length + CHARACTER_BYTES) - base;
  return textWindow(await readBytes(file, base, wanted), base, size, window);
}

async function readContent(file: FileHandle, request: ReadFile, path: string): Promise<FileContent> {
  const { offset, length, path: shown } = request;
  const stats = await file.stat();
  const { size } = stats;
  if (size > READ_MAX_BYTES) {
    throw new ServiceError('fs.too_large', `file too large: ${shown} (${size} bytes > ${READ_MAX_BYTES})`);
  }
  const encoding = await fileEncoding(await readBytes(file, 0, Math.min(size, LEGACY_SAMPLE_BYTES)));
  if (encoding === 'binary' && request.encoding === 'utf-8') {
    throw new ServiceError('fs.is_binary', `file is binary: ${shown}`);
  }
  const type = fileType(basename(path));
  const facts = {
    path,
    size,
    etag: etagOf(stats),
    mime: type?.mime ?? (encoding === 'utf-8' ? 'text/plain' : 'application/octet-stream'),
  };
  if (encoding === 'binary' || request.encoding === 'base64') {
    const bytes = offset < size ? await readBytes(file, offset, Math.min(length, size - offset)) : Buffer.alloc(0);
    const content = bytes.toString('base64');
    const truncated = offset + bytes.length < size && offset < size;
    return { ...facts, content, encoding: 'base64', truncated, is_binary: encoding !== 'utf-8' };
  }
  const { text, lines, truncated } = await readText(file, encoding, size, request);
  return {
    ...facts,
    content: text,
    encoding: 'utf-8',
    truncated,
    is_binary: false,
    line_count: lines,
    ...(type?.languageId === undefined ? {} : { language_id: type.languageId }),
  };
}

/** Throws the errors of `openFileOf` and of opening a path, and `fs.is_binary`, `fs.too_large`. */
export async function readFileContent(directory: WorkDirectory, request: ReadFile): Promise<FileContent> {
  const { path: shown } = request;
  const path = relativePath(shown);
  const inside = await within(directory);
  return onPath(shown, async () => {
    const place = await inside.open(path, shown);
    try {
      const file = await openFileOf(place, shown);
      try {
        return await readContent(file, request, path);
      } finally {
        await file.close();
      }
    } finally {
      await place.close();
    }
  });
}
