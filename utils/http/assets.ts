/** Serves the built page, after the guard. */
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '#server/errors/errno.ts';
import type { Reply } from './reply.ts';
import { streamed } from './reply.ts';

const INDEX = 'index.html';
const IMMUTABLE = 'public, max-age=31536000, immutable';

export interface AssetReader {
  /**
   * The file of a path outside `/api/`; the page itself, with `pageHeaders`, for paths without an extension; else 404
   * in plain text.
   */
  read(segments: string[], pageHeaders?: Reply['headers']): Promise<Reply>;
}

const notFound = (): Reply => ({
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: 'Not found',
});

/** A name that stays inside its directory. */
const plain = (segment: string) => segment !== '' && segment !== '.' && segment !== '..' && !/[/\\\0]/.test(segment);

/** Codes of a path that names no file. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']);

async function openFile(path: string): Promise<{ file: FileHandle; size: number } | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if (ABSENT.has(errorCode(error) ?? '')) return undefined;
    throw error;
  }
  try {
    const stats = await file.stat();
    if (stats.isFile()) return { file, size: stats.size };
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return undefined;
}

/**
 * No further than the length that was announced, should the file grow; `end` is inclusive, so it cannot say nothing.
 */
const upTo = (size: number) => (size === 0 ? {} : { end: size - 1 });

async function contentType(name: string): Promise<string> {
  // Its tables are made when it loads, which the start needs not wait for.
  const { default: mime } = await import('mime');
  const type = mime.getType(name) ?? 'application/octet-stream';
  return /^text\/|javascript|json|svg/.test(type) ? `${type}; charset=utf-8` : type;
}

/** Serves from `directory`, asked at each read; it may be missing (a checkout whose page was not built). */
export function createAssetReader(directory: () => string): AssetReader {
  async function reply(segments: string[], more: Reply['headers']): Promise<Reply | undefined> {
    const opened = await openFile(join(directory(), ...segments));
    if (!opened) return undefined;
    const headers = {
      'content-type': await contentType(segments.at(-1) ?? ''),
      ...more,
    };
    return streamed(opened.file.createReadStream(upTo(opened.size)), opened.size, headers);
  }

  return {
    async read(segments, pageHeaders = {}) {
      const last = segments.at(-1) ?? '';
      const page = { 'cache-control': 'no-cache', ...pageHeaders };
      if (segments.every(plain)) {
        const isPage = segments.length === 1 && last === INDEX;
        const isHashed = segments[0] === 'assets';
        const found = await reply(segments, isPage ? page : isHashed ? { 'cache-control': IMMUTABLE } : {});
        if (found) return found;
      }
      const found = last.includes('.') ? undefined : await reply([INDEX], page);
      return found ?? notFound();
    },
  };
}
