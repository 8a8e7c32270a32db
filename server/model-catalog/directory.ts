/** The public directory of models, requested at its first use and cached for 10 minutes. */
import type { Clock } from '#server/clock.ts';
import type { Logger } from '#server/logging/log.ts';
import { createTimeSlice } from '#server/async/yield.ts';
import { errorMessage, ServiceError } from '#server/errors/service-error.ts';
import type { CatalogEntry } from '#schema/rest/catalog.ts';
import { readEntry } from './directory-entry.ts';
import type { DirectoryTexts } from './directory-messages.ts';
import { resolveEntry, type ResolvedEntry } from './resolve-entry.ts';

/** How long a document is cached. */
export const DIRECTORY_AGE_MS = 10 * 60_000;
/** Size of a document at most, after decompression. */
export const MAX_DIRECTORY_BYTES = 16 * 1024 * 1024;
/** Time-out of a download and of parsing it. */
export const DIRECTORY_TIMEOUT_MS = 10_000;

/** Lines for malformed entries of a document, and the part of their keys that is shown. */
const MAX_LINES = 20;
const MAX_SHOWN_CHARS = 100;

export interface ModelDirectory {
  /** In the order of the document. Throws `catalog.unavailable`. */
  list(): Promise<CatalogEntry[]>;
  /** Throws `catalog.unavailable`, then `catalog.entry_not_found`. */
  get(id: string): Promise<CatalogEntry>;
  /** An entry with the facts for an import, at the address that the user names. Throws as `get`. */
  resolved(id: string, named?: string): Promise<ResolvedEntry>;
  close(): void;
}

export interface ModelDirectoryDeps {
  /** The directory's address at present. */
  url(): Promise<string>;
  /** Returns the decoded body, of at most 16 MiB. Rejects for a status that is no success. */
  download(url: string, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>>;
  /** Parses the bytes as `trimDirectory` does; they are not used afterwards. */
  parse(bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<DirectoryTexts>;
  /** The document of the build; undefined if it has none. */
  snapshot(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
}

interface Entry {
  item: CatalogEntry;
  /** The entry as JSON, which takes less memory than its value. */
  text: string;
}

interface Copy {
  url: string;
  at: number;
  entries: ReadonlyMap<string, Entry>;
}

/** Creates the service; nothing is requested before its first use. */
export function createModelDirectory(deps: ModelDirectoryDeps): ModelDirectory {
  const { url: currentUrl, download, parse, snapshot, clock, log } = deps;
  const closing = new AbortController();
  let cached: Copy | undefined;
  let loading: Promise<Copy> | undefined;

  async function entriesOf({ entries, dropped }: DirectoryTexts): Promise<ReadonlyMap<string, Entry>> {
    const slice = createTimeSlice();
    const read = new Map<string, Entry>();
    for (const [id, text] of entries) {
      const entry = readEntry(JSON.parse(text));
      if (entry) read.set(id, { item: (await resolveEntry(id, entry, slice)).item, text });
      else dropped.push(id);
      if (slice.due()) await slice.rest();
    }
    noteDropped(dropped);
    return read;
  }

  /** The number and the keys of the entries are those of a document from outside. */
  function noteDropped(ids: readonly string[]): void {
    for (const id of ids.slice(0, MAX_LINES)) {
      log.warn('an entry of the model directory is malformed or too large', { id: id.slice(0, MAX_SHOWN_CHARS) });
    }
    const count = ids.length - MAX_LINES;
    if (count > 0) log.warn('further entries of the model directory are malformed or too large', { count });
  }

  async function request(url: string): Promise<Copy> {
    const limit = new AbortController();
    const late = new Error(`the model directory takes longer than ${DIRECTORY_TIMEOUT_MS} ms`);
    const stop = clock.setTimeout(() => limit.abort(late), DIRECTORY_TIMEOUT_MS);
    const signal = AbortSignal.any([limit.signal, closing.signal]);
    try {
      const texts = await parse(await download(url, signal), signal);
      return { url, at: clock.now(), entries: await entriesOf(texts) };
    } finally {
      stop();
    }
  }

  async function load(url: string): Promise<Copy> {
    try {
      return (cached = await request(url));
    } catch (error) {
      if (!closing.signal.aborted)
        log.warn(`the model directory cannot be read: ${errorMessage(error)}`, { err: error });
    }
    // Its age is not renewed, so the next call requests it again.
    if (cached?.url === url) return cached;
    const bytes = await snapshot();
    if (!bytes) throw new ServiceError('catalog.unavailable', 'the model directory is not available');
    const texts = await parse(bytes, closing.signal);
    return (cached = { url, at: clock.now(), entries: await entriesOf(texts) });
  }

  async function current(): Promise<Copy> {
    const url = await currentUrl();
    if (cached?.url === url && clock.now() - cached.at < DIRECTORY_AGE_MS) return cached;
    return (loading ??= load(url).finally(() => (loading = undefined)));
  }

  async function entry(id: string): Promise<Entry> {
    const found = (await current()).entries.get(id);
    if (!found) throw new ServiceError('catalog.entry_not_found', `catalog entry ${id} does not exist`);
    return found;
  }

  return {
    list: async () => Array.from((await current()).entries.values(), ({ item }) => item),
    get: async (id) => (await entry(id)).item,
    async resolved(id, named) {
      const read = readEntry(JSON.parse((await entry(id)).text));
      if (!read) throw new Error(`the cached entry ${id} is malformed`);
      return resolveEntry(id, read, createTimeSlice(), named);
    },
    close: () => closing.abort(new Error('the server is stopping')),
  };
}
