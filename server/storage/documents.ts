/**
 * Small things that must last, each a value under a key: through unstorage mounts, so that another driver is one
 * option. With the default driver they are files of the home: key `credentials:x.json` is `credentials/x.json`.
 */
import { createStorage, normalizeKey, type Driver } from 'unstorage';
import { join } from 'node:path';
import { z } from 'zod';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { fileDriver } from './file-driver.ts';

/** What can stand on a driver of its own; `home` has all that is not below another. */
export type DocumentMount = 'home' | 'credentials';
export type DocumentDrivers = Partial<Record<DocumentMount, Driver>>;

/** Everything here throws 50003 when the driver refuses. */
export interface Documents {
  /** The document, or undefined when there is none. Throws 50003 when it is not JSON of this shape. */
  get<Schema extends z.ZodType>(key: string, schema: Schema): Promise<z.output<Schema> | undefined>;
  /** Replaces the document whole; resolves when it will last. */
  set<Schema extends z.ZodType>(key: string, schema: Schema, value: z.input<Schema>): Promise<void>;
  /** As `get` and `set`, for what is no JSON. */
  getText(key: string): Promise<string | undefined>;
  setText(key: string, text: string): Promise<void>;
  /** Changes whenever the document does, whoever wrote it. Undefined: unknown, so read it again. */
  version(key: string): Promise<string | undefined>;
  /** Nothing to remove is no error. */
  remove(key: string): Promise<void>;
  /** All keys below a prefix such as `credentials`. */
  keys(prefix: string): Promise<string[]>;
  close(): Promise<void>;
}

export interface DocumentsOptions {
  home: string;
  /** Instead of files under the home. */
  drivers?: DocumentDrivers;
}

/** Opens nothing yet. */
export function createDocuments({ home, drivers = {} }: DocumentsOptions): Documents {
  const storage = createStorage({ driver: drivers.home ?? fileDriver({ base: home }) });
  storage.mount('credentials', drivers.credentials ?? fileDriver({ base: join(home, 'credentials'), home }));

  async function attempt<T>(action: string, key: string, work: () => Promise<T>): Promise<T> {
    try {
      // What unstorage would rewrite might be another document's key.
      if (normalizeKey(key) !== key) throw new Error('no such key');
      return await work();
    } catch (error) {
      const reason = error instanceof z.ZodError ? z.prettifyError(error) : errorMessage(error);
      throw new ServiceError('persistence.failure', `document ${key} cannot be ${action}: ${reason}`, { cause: error });
    }
  }

  async function read(key: string): Promise<string | undefined> {
    // As it is stored: unstorage's own reading makes values of whatever looks like one.
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
    // Indented: people read it too.
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

/** What drivers of binary stores give. */
const bytes = z.instanceof(Uint8Array);
