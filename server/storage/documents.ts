/** The home's JSON documents, through unstorage: another driver is one argument (architecture, "Storage"). */
import { createStorage, type Driver } from 'unstorage';
import { z } from 'zod';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { fileDriver } from './file-driver.ts';

export interface Documents {
  /** The document, or undefined when there is none. Throws 50003 when it cannot be read or has another shape. */
  get<Schema extends z.ZodType>(key: string, schema: Schema): Promise<z.output<Schema> | undefined>;
  /** Replaces the document whole. Throws 50003 when it cannot be written. */
  set<Schema extends z.ZodType>(key: string, schema: Schema, value: z.input<Schema>): Promise<void>;
  /** Changes whenever the document does, whoever wrote it. Undefined: unknown, so read it again. */
  version(key: string): Promise<string | undefined>;
  close(): Promise<void>;
}

const failure = (action: string, key: string, error: unknown) => {
  const reason = error instanceof z.ZodError ? z.prettifyError(error) : errorMessage(error);
  return new ServiceError('persistence.failure', `document ${key} cannot be ${action}: ${reason}`, { cause: error });
};

/** `driver` stands in for the files of `home`. */
export function createDocuments({
  home,
  driver = fileDriver({ base: home }),
}: {
  home: string;
  driver?: Driver;
}): Documents {
  const storage = createStorage({ driver });
  return {
    async get(key, schema) {
      try {
        const value = await storage.getItem<unknown>(key);
        return value === null ? undefined : schema.parse(value);
      } catch (error) {
        throw failure('read', key, error);
      }
    },
    async set(key, schema, value) {
      try {
        // Text, not an object: the document is made to be read by people too.
        await storage.setItem(key, `${JSON.stringify(schema.parse(value), null, 2)}\n`);
      } catch (error) {
        throw failure('written', key, error);
      }
    },
    async version(key) {
      const { version } = await storage.getMeta(key, { nativeOnly: true });
      return typeof version === 'string' ? version : undefined;
    },
    close: () => storage.dispose(),
  };
}
