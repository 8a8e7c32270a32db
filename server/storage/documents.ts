/**
 * Key-value store for small durable documents, built on unstorage mounts so that the driver can be replaced. With the
 * default driver they are files of the home: key `credentials:x.json` is `credentials/x.json`.
 */
import { createStorage, normalizeKey, type Driver } from 'unstorage';
import { join } from 'node:path';
import * as z from 'zod';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { fileDriver } from './file-driver.ts';

/** Mounts that may have separate drivers; `home` contains all keys that are not below another mount. */
export type DocumentMount = 'home' | 'credentials';
export type DocumentDrivers = Partial<Record<DocumentMount, Driver>>;

/** All functions throw `persistence.failure` if the driver fails. */
export interface Documents {
  /** The document, undefined if it is missing. Throws `persistence.failure` if it does not match the schema. */
  get<Schema extends z.ZodType>(key: string, schema: Schema): Promise<z.output<Schema> | undefined>;
  /** Replaces the whole document; resolves after it is durable. */
  set<Schema extends z.ZodType>(key: string, schema: Schema, value: z.input<Schema>): Promise<void>;
  /** Like `get` and `set`, for text that is not JSON. */
  getText(key: string): Promise<string | undefined>;
  setText(key: string, text: string): Promise<void>;
  /** Changes with each write of the document, by any process. Undefined: unknown, the document must be read again. */
  version(key: string): Promise<string | undefined>;
  /** Removes the document; no error if it is missing. */
  remove(key: string): Promise<void>;
  /** All keys below a prefix such as `credentials`. */
  keys(prefix: string): Promise<string[]>;
  close(): Promise<void>;
}

export interface DocumentsOptions {
  home: string;
  /** Replacements for the default drivers, which store files in the home. */
  drivers?: DocumentDrivers;
}

/** Creates the store without opening it. */
export function createDocuments({ home, drivers = {} }: DocumentsOptions): Documents {
  const storage = createStorage({ driver: drivers.home ?? fileDriver({ base: home }) });
  storage.mount('credentials', drivers.credentials ?? fileDriver({ base: join(home, 'credentials'), home }));

  async function attempt<T>(action: string, key: string, work: () => Promise<T>): Promise<T> {
    try {
      // unstorage would normalize such a key, possibly to that of another document.
      if (normalizeKey(key) !== key) throw new Error('no such key');
      return await work();
    } catch (error) {
      const reason = error instanceof z.ZodError ? z.prettifyError(error) : errorMessage(error);
      throw new ServiceError('persistence.failure', `document ${key} cannot be ${action}: ${reason}`, { cause: error });
    }
  }

  async function read(key: string): Promise<string | undefined> {
    // Raw read, because unstorage's `getItem` parses texts that look like JSON.
    const value = await storage.getItemRaw<unknown>(key);
    if (value === null || value === undefined) return undefined;
    return typeof value === 'string' ? value : Buffer.from(bytes.parse(value)).toString();
  }

  return {
    get: (key, schema) =>
      attempt('read', key, async () => {
        const text = await read(key);
        return text === undefined ? undefined : schema.parse(JSON.parse(text));
      }),
    // Indented, because people read the files too.
    set: (key, schema, value) =>
      attempt('written', key, () => storage.setItem(key, `${JSON.stringify(schema.parse(value), null, 2)}\n`)),
    getText: (key) => attempt('read', key, () => read(key)),
    setText: (key, text) => attempt('written', key, () => storage.setItem(key, text)),
    version: (key) =>
      attempt('read', key, async () => {
        const { version } = await storage.getMeta(key, { nativeOnly: true });
        return typeof version === 'string' ? version : undefined;
      }),
    remove: (key) => attempt('removed', key, () => storage.removeItem(key)),
    keys: (prefix) => attempt('listed', prefix, () => storage.getKeys(prefix)),
    close: () => storage.dispose(),
  };
}

/** Value type of binary drivers. */
const bytes = z.instanceof(Uint8Array);
