/** Long strings of records live in files of their own (records.md §1.5). */
import { createHash, randomBytes } from 'node:crypto';
import nodeFs from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defer, hashesOf } from './deferred.ts';

/** UTF-8 bytes; longer strings become blobs. */
export const BLOB_THRESHOLD_BYTES = 16_384;
/** A UTF-16 unit takes at most three bytes, so shorter strings need no counting. */
const SURELY_SHORT_UNITS = Math.floor(BLOB_THRESHOLD_BYTES / 3);
const PARALLEL_READS = 16;

const reservedKey = /^\$+blob$/;
/** With `u` this matches lone surrogates only; UTF-8 cannot hold them, so such a text stays in its line. */
const loneSurrogate = /\p{Surrogate}/u;

/** What writing needs of `node:fs`; tests pass one that fails. */
export type BlobFs = Pick<typeof nodeFs, 'existsSync' | 'mkdirSync' | 'writeFileSync' | 'renameSync' | 'rmSync'>;

export interface BlobStore {
  /**
   * JSON text with long strings moved to complete files. Their texts stay at hand until `forget`. Throws what the file
   * system throws.
   */
  encode(value: unknown): string;
  /** The value of a JSON text; blob references become accessors that read their file (see deferred.ts). */
  decode(text: string): unknown;
  /** A plain copy with all blob texts read in without blocking; the value itself when it has none. */
  load<T>(value: T): Promise<T>;
  /** The same at once: texts just encoded come from memory, others block on their file. */
  plain<T>(value: T): T;
  forget(): void;
  /** Forces the blobs written so far to the disk. */
  sync(): Promise<void>;
}

/** `dir` is the session folder; files are `blobs/<sha256>`, made when first needed. */
export function createBlobStore(dir: string, fs: BlobFs = nodeFs): BlobStore {
  const folder = join(dir, 'blobs');
  const known = new Set<string>();
  let unsynced: string[] = [];
  let texts = new Map<string, string>();

  function put(text: string): string {
    const hash = createHash('sha256').update(text, 'utf8').digest('hex');
    texts.set(hash, text);
    if (known.has(hash)) return hash;
    const path = join(folder, hash);
    if (!fs.existsSync(path)) {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      const temporary = `${path}.tmp-${randomBytes(4).toString('hex')}`;
      try {
        fs.writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' });
        fs.renameSync(temporary, path);
      } catch (error) {
        fs.rmSync(temporary, { force: true });
        throw error;
      }
      unsynced.push(hash);
    }
    known.add(hash);
    return hash;
  }

  function extract(value: unknown): unknown {
    if (typeof value === 'string') return isLong(value) ? { $blob: put(value) } : value;
    if (Array.isArray(value)) return value.map(extract);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [reservedKey.test(key) ? `$${key}` : key, extract(member)]),
    );
  }

  function read(hash: string): string {
    const held = texts.get(hash);
    if (held !== undefined) return held;
    try {
      return nodeFs.readFileSync(join(folder, hash), 'utf8');
    } catch {
      return lostText(hash);
    }
  }

  function restore(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (!Array.isArray(value) && Object.keys(value).some((key) => reservedKey.test(key))) {
      return restoreMembers(
        Object.fromEntries(
          Object.entries(value).map(([key, member]) => [reservedKey.test(key) ? key.slice(1) : key, member]),
        ),
      );
    }
    return restoreMembers(value as Record<string, unknown>);
  }

  function restoreMembers(holder: Record<string, unknown>): unknown {
    for (const key of Object.keys(holder)) {
      const member = holder[key];
      if (typeof member !== 'object' || member === null) continue;
      const hash = reference(member);
      if (hash !== undefined) defer(holder, key, hash, () => read(hash));
      else define(holder, key, restore(member));
    }
    return holder;
  }

  async function readTexts(hashes: string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (let start = 0; start < hashes.length; start += PARALLEL_READS) {
      await Promise.all(
        hashes.slice(start, start + PARALLEL_READS).map(async (hash) => {
          found.set(hash, await readFile(join(folder, hash), 'utf8').catch(() => lostText(hash)));
        }),
      );
    }
    return found;
  }

  return {
    encode(value) {
      const text = JSON.stringify(value);
      if (text.length <= SURELY_SHORT_UNITS && !text.includes('blob"')) return text;
      return JSON.stringify(extract(value));
    },
    decode(text) {
      const value: unknown = JSON.parse(text);
      return text.includes('blob"') ? restore(value) : value;
    },
    plain: (value) => (hashesOf(value).size === 0 ? value : structuredClone(value)),
    async load(value) {
      const hashes = hashesOf(value);
      if (hashes.size === 0) return value;
      const loaded = await readTexts([...hashes]);
      const before = texts;
      texts = loaded;
      try {
        return structuredClone(value);
      } finally {
        texts = before;
      }
    },
    forget: () => texts.clear(),
    async sync() {
      const hashes = unsynced;
      unsynced = [];
      if (hashes.length === 0) return;
      for (const path of [...hashes.map((hash) => join(folder, hash)), folder]) {
        const file = await open(path, 'r');
        await file.sync().finally(() => file.close());
      }
    },
  };
}

function isLong(text: string): boolean {
  return (
    text.length > SURELY_SHORT_UNITS && Buffer.byteLength(text) > BLOB_THRESHOLD_BYTES && !loneSurrogate.test(text)
  );
}

/** Own keys are escaped, so an object with a bare `$blob` can only be a reference. */
function reference(value: object): string | undefined {
  const hash = '$blob' in value ? value.$blob : undefined;
  return typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash) ? hash : undefined;
}

function define(holder: object, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

const lostText = (hash: string) => `[content lost: ${hash}]`;
