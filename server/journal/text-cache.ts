/** Texts of blob files that requests repeat, at hand for all sessions: bounded, what was used last stays. */

/** UTF-16 units of all texts together. */
const CACHE_UNITS = 8 * 1024 * 1024;
/** Longer ones would push out all others. */
const CACHED_TEXT_UNITS = 1024 * 1024;

export interface TextCache {
  get(hash: string): string | undefined;
  put(hash: string, text: string): void;
}

/** A cache by the texts' hashes, so that an entry can never be wrong. */
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

/** One for the process: the same text is the same in every session. */
export const textCache = createTextCache();
