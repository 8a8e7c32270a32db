/** Serves the built page, after the guard. */
import { open, readFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '#server/errors/errno.ts';
import { namesEtag } from './byte-range.ts';
import { contentTag, pageDocument } from './page-document.ts';
import type { Reply } from './reply.ts';
import { streamed } from './reply.ts';

const INDEX = 'index.html';
const IMMUTABLE = 'public, max-age=31536000, immutable';

export interface PageRequest {
  /** Path of the page in the browser; begins and ends with a slash. */
  base: string;
  headers: Reply['headers'];
  ifNoneMatch: string | undefined;
}

export interface AssetReader {
  /**
   * The file of a path outside `/api/`; the page itself, as `page` specifies, for paths without an extension; else 404 in
   * plain text.
   */
  read(segments: string[], page: PageRequest): Promise<Reply>;
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

  /** Undefined if the page was not built. */
  async function pageReply({ base, headers: more, ifNoneMatch }: PageRequest): Promise<Reply | undefined> {
    let html: string;
    try {
      html = await readFile(join(directory(), INDEX), 'utf8');
    } catch (error) {
      if (ABSENT.has(errorCode(error) ?? '')) return undefined;
      throw error;
    }
    const body = Buffer.from(pageDocument(html, base));
    const tag = contentTag(body);
    const headers = {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      etag: `"${tag}"`,
      ...more,
    };
    return namesEtag(ifNoneMatch, tag) ? { status: 304, headers } : { status: 200, headers, body };
  }

  return {
    async read(segments, page) {
      const last = segments.at(-1) ?? '';
      const isPage = segments.length === 1 && last === INDEX;
      if (!isPage && segments.every(plain)) {
        const found = await reply(segments, segments[0] === 'assets' ? { 'cache-control': IMMUTABLE } : {});
        if (found) return found;
      }
      const found = isPage || !last.includes('.') ? await pageReply(page) : undefined;
      return found ?? notFound();
    },
  };
}
