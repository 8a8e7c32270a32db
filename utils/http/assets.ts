/** Serves the built page, after the guard. */
import { open, readFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '#server/errors/errno.ts';
import { etagOf } from '#server/files/etag.ts';
import { ENCODINGS, acceptedEncodings } from './accepted-encoding.ts';
import { namesEtag } from './byte-range.ts';
import { contentTag, pageDocument } from './page-document.ts';
import type { Reply } from './reply.ts';
import { streamed } from './reply.ts';

const INDEX = 'index.html';
const REVALIDATED = 'no-cache';
const IMMUTABLE = 'public, max-age=31536000, immutable';
/** Text types, of which the build writes compressed files. */
const COMPRESSIBLE = /^text\/|javascript|json|svg/;

export interface PageRequest {
  /** Path of the page in the browser; begins and ends with a slash. */
  base: string;
  /** Added to the page's reply. */
  headers: Reply['headers'];
  acceptEncoding?: string | undefined;
  ifNoneMatch?: string | undefined;
}

export interface AssetReader {
  /**
   * The file of a path outside `/api/`, compressed if the client accepts it; the page itself, as `page` specifies, for
   * paths without an extension; else 404 in plain text.
   */
  read(segments: string[], page: PageRequest): Promise<Reply>;
}

interface OpenedAsset {
  file: FileHandle;
  size: number;
  /** Without quotes. Differs by encoding. */
  tag: string;
}

const notFound = (): Reply => ({
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: 'Not found',
});

/** A name that stays inside its directory. */
const plain = (segment: string) => segment !== '' && segment !== '.' && segment !== '..' && !/[/\\\0]/.test(segment);

const isCompressed = (name: string) => ENCODINGS.some(({ suffix }) => name.endsWith(suffix));

/** Codes of a path that names no file. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']);

async function openAsset(path: string): Promise<OpenedAsset | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if (ABSENT.has(errorCode(error) ?? '')) return undefined;
    throw error;
  }
  try {
    const stats = await file.stat();
    if (stats.isFile()) return { file, size: stats.size, tag: etagOf(stats) };
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return undefined;
}

/** The preferred one of the compressed files that exist. */
async function openCompressed(path: string, acceptEncoding: string | undefined) {
  for (const { name, suffix } of acceptedEncodings(acceptEncoding)) {
    const opened = await openAsset(path + suffix);
    if (opened) return { ...opened, tag: `${opened.tag}-${name}`, encoding: name };
  }
  return undefined;
}

/**
 * No further than the length that was announced, should the file grow; `end` is inclusive, so it cannot say nothing.
 */
const upTo = (size: number) => (size === 0 ? {} : { end: size - 1 });

async function contentType(name: string): Promise<string> {
  // Its tables are made when it loads, which the start needs not wait for.
  const { default: mime } = await import('mime');
  return mime.getType(name) ?? 'application/octet-stream';
}

/** Files of the build have a hash in their names; a service worker is at the top level, because its path limits it. */
function cacheControl(segments: readonly string[]): Reply['headers'] {
  if (segments[0] === 'assets') return { 'cache-control': IMMUTABLE };
  return segments.length === 1 && segments[0]?.endsWith('.js') ? { 'cache-control': REVALIDATED } : {};
}

/** Serves from `directory`, asked at each read; it may be missing (a checkout whose page was not built). */
export function createAssetReader(directory: () => string): AssetReader {
  async function fileReply(
    segments: string[],
    { acceptEncoding, ifNoneMatch }: PageRequest,
  ): Promise<Reply | undefined> {
    const path = join(directory(), ...segments);
    const type = await contentType(segments.at(-1) ?? '');
    const isText = COMPRESSIBLE.test(type);
    const compressed = isText ? await openCompressed(path, acceptEncoding) : undefined;
    const opened = compressed ?? (await openAsset(path));
    if (!opened) return undefined;
    const headers: Reply['headers'] = {
      'content-type': isText ? `${type}; charset=utf-8` : type,
      etag: `"${opened.tag}"`,
      ...cacheControl(segments),
      ...(isText && { vary: 'Accept-Encoding' }),
      ...(compressed && { 'content-encoding': compressed.encoding }),
    };
    if (namesEtag(ifNoneMatch, opened.tag)) {
      await opened.file.close();
      return { status: 304, headers };
    }
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
      'cache-control': REVALIDATED,
      etag: `"${tag}"`,
      ...more,
    };
    return namesEtag(ifNoneMatch, tag) ? { status: 304, headers } : { status: 200, headers, body };
  }

  return {
    async read(segments, page) {
      const last = segments.at(-1) ?? '';
      const isPage = segments.length === 1 && last === INDEX;
      if (!isPage && segments.every(plain) && !isCompressed(last)) {
        const found = await fileReply(segments, page);
        if (found) return found;
      }
      const found = isPage || !last.includes('.') ? await pageReply(page) : undefined;
      return found ?? notFound();
    },
  };
}
