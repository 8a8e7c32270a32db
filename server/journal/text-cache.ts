/** LRU cache of blob texts that requests repeat, for all sessions, bounded in size. */

/** UTF-16 units of all texts together. */
const CACHE_UNITS = 8 * 1024 * 1024;
/** A longer text is not cached: it would evict all others. */
const CACHED_TEXT_UNITS = 1024 * 1024;

export interface TextCache {
  get(hash: string): string | undefined;
  put(hash: string, text: string): void;
}

/** Creates a cache by the texts' hashes, so that an entry is never stale. */
export function createTextCache(limit = CACHE_UNITS, longest = CACHED_TEXT_UNITS): TextCache {
  const texts = new Map<string, string>();
  let units = 0;

  function take(hash: string): string | undefined {
    const text = texts.get(hash);
    if (text === undefined) return undefined;
    texts.delete(hash);
    units -= text.length;
    return text;
  }

  function put(hash: string, text: string): void {
    take(hash);
    if (text.length > longest) return;
    texts.set(hash, text);
    units += text.length;
    for (const oldest of texts.keys()) {
      if (units <= limit) return;
      take(oldest);
    }
  }

  return {
    get(hash) {
      const text = take(hash);
      if (text !== undefined) put(hash, text);
      return text;
    },
    put,
  };
}

/** One cache per process: the same text is the same in every session. */
export const textCache = createTextCache();
