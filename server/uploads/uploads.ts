/**
 * Store of the files that clients upload for prompts: bytes in `files/<id>` of the home, a record next to each. The
 * record decides whether an upload exists: written last, removed first, read at each use by all servers of a home.
 */
import { randomUUID } from 'node:crypto';
import { constants, createWriteStream } from 'node:fs';
import { copyFile, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '#server/clock.ts';
import { envInteger } from '#server/env.ts';
import { errorMessage, invalidField, ServiceError } from '#server/errors/service-error.ts';
import { makeDurableDirectory, syncDirectory } from '#server/files/atomic-write.ts';
import { errorCode } from '#server/errors/errno.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Documents } from '#server/storage/documents.ts';
import { iso } from '#schema/scalars.ts';
import { uploadSchema, type Upload } from '#schema/rest/upload.ts';

const ID = /^f_[A-Za-z0-9][A-Za-z0-9_-]*$/;
/** The longest file name that file systems allow. */
const MAX_ID_CHARS = 200;

/** Whether an upload can have this id; others never become a key or a path. */
export const isUploadId = (id: string): boolean => id.length <= MAX_ID_CHARS && ID.test(id);

const FOLDER = 'files';
/** Limit of an upload, unless `SERVICE_CODE_UPLOAD_MAX_BYTES` is set. */
export const DEFAULT_MAX_BYTES = 2 ** 31;
const LAST_TIME = 8_640_000_000_000_000;
/** Age of the last write after which a file without a record is treated as an aborted upload. */
const ABANDONED_MS = 24 * 60 * 60 * 1000;

/** The body of an upload while it arrives. */
export interface IncomingForm {
  read(onFile: (part: IncomingFile) => Promise<void>): Promise<ReadonlyMap<string, string>>;
}

export interface IncomingFile {
  filename: string;
  mediaType: string;
  stream: Readable;
}

export interface OpenUpload {
  record: Upload;
  /** The caller closes it. */
  file: FileHandle;
  size: number;
}

export interface Uploads {
  /** Stores the file of a form, or nothing. Throws `validation.failed`, `file.too_large`, `persistence.failure`. */
  receive(form: IncomingForm): Promise<Upload>;
  /** Undefined for an unknown, malformed or expired id. Throws `persistence.failure`. */
  find(id: string): Promise<Upload | undefined>;
  /** `find` with the bytes; also undefined when these are missing. */
  open(id: string): Promise<OpenUpload | undefined>;
  /** Copies the bytes durably to a new file; undefined in the cases of `open`. */
  copy(id: string, path: string): Promise<Upload | undefined>;
  /** False for an unknown upload. Throws `persistence.failure`. */
  remove(id: string): Promise<boolean>;
  /** Removes in the background uploads that expired or were aborted while no server ran. */
  startSweep(): void;
  /** Resolves when no sweep runs any more. */
  close(): Promise<void>;
}

export interface UploadsDeps {
  home: string;
  /** `SERVICE_CODE_UPLOAD_MAX_BYTES` is read at each upload. */
  env(): NodeJS.ProcessEnv;
  documents: Documents;
  clock: Clock;
  log: Logger;
}

/** `undefined`: never expires. */
function expiry(text: string | undefined, now: number): number | undefined {
  const seconds = Number(text?.trim() || Number.NaN);
  const at = now + Math.floor(seconds) * 1000;
  return seconds >= 0 && at <= LAST_TIME ? at : undefined;
}

/** Passes the bytes of a file through; fails with `file.too_large` above `maxBytes`. */
function atMostBytes(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= maxBytes) done(null, chunk);
      else done(new ServiceError('file.too_large', `file is larger than ${maxBytes} bytes`));
    },
  });
}

async function storing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const message = `the upload could not be stored: ${errorMessage(error)}`;
    throw new ServiceError('persistence.failure', message, { cause: error });
  }
}

/** Creates the store; opens no file. */
export function createUploads({ home, env, documents, clock, log }: UploadsDeps): Uploads {
  const folder = join(home, FOLDER);
  const pathOf = (id: string) => join(folder, id);
  const keyOf = (id: string) => `${FOLDER}:${id}.json`;
  /** Expiry time of the uploads that this process has read. */
  const expiring = new Map<string, number>();
  let stopped = false;
  let sweeping: Promise<void> = Promise.resolve();

  async function discard(id: string): Promise<void> {
    expiring.delete(id);
    await documents.remove(keyOf(id));
    await rm(pathOf(id), { force: true });
  }

  /** Runs sweeps serially in the background; no caller waits for them. */
  function inBackground(work: () => Promise<void>): void {
    sweeping = sweeping.then(work).catch((error: unknown) => log.warn('uploads could not be swept', { err: error }));
  }

  function sweepExpired(): void {
    const now = clock.now();
    for (const [id, at] of expiring) {
      if (at > now) continue;
      expiring.delete(id);
      inBackground(() => discard(id));
    }
  }

  async function lookUp(id: string): Promise<Upload | undefined> {
    if (!isUploadId(id)) return undefined;
    const upload = await documents.get(keyOf(id), uploadSchema);
    // On a case-insensitive file system the record may be that of another upload.
    if (upload?.id !== id) return undefined;
    if (upload.expires_at === undefined || Date.parse(upload.expires_at) > clock.now()) return upload;
    inBackground(() => discard(id));
    return undefined;
  }

  async function write(stream: Readable, path: string): Promise<number> {
    await makeDurableDirectory(home, folder);
    const target = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
    const maxBytes = envInteger(env(), 'SERVICE_CODE_UPLOAD_MAX_BYTES') ?? DEFAULT_MAX_BYTES;
    await pipeline(stream, atMostBytes(maxBytes || Infinity), target);
    return target.bytesWritten;
  }

  /** Removes aborted uploads, and those that expired while no server ran. */
  async function sweepAll(): Promise<void> {
    const names = await readdir(folder).catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return [];
      throw error;
    });
    const present = new Set(names);
    for (const name of names) {
      if (stopped) return;
      const id = name.replace(/\.json$/, '');
      if (name !== id && isUploadId(id)) {
        const upload = await documents.get(keyOf(id), uploadSchema).catch((error: unknown) => {
          log.warn('the record of an upload cannot be read', { id, err: error });
          return undefined;
        });
        if (upload?.expires_at !== undefined) expiring.set(id, Date.parse(upload.expires_at));
      } else if (!present.has(`${name}.json`)) {
        const facts = await stat(join(folder, name)).catch(() => undefined);
        if (facts?.isFile() && facts.mtimeMs < Date.now() - ABANDONED_MS) await rm(join(folder, name), { force: true });
      }
    }
    sweepExpired();
  }

  return {
    async receive(form) {
      sweepExpired();
      const id = `f_${randomUUID()}`;
      const temporary = `${pathOf(id)}.tmp-upload`;
      let received: { part: IncomingFile; size: number } | undefined;
      try {
        const fields = await form.read(async (part) => {
          received = { part, size: await storing(() => write(part.stream, temporary)) };
        });
        if (!received) throw invalidField('file', 'missing `file` field');
        const { part, size } = received;
        const now = clock.now();
        const expiresAt = expiry(fields.get('expires_in_sec'), now);
        const upload: Upload = {
          id,
          name: fields.get('name') || part.filename || 'file',
          media_type: part.mediaType,
          size,
          created_at: iso(now),
          ...(expiresAt === undefined ? {} : { expires_at: iso(expiresAt) }),
        };
        await storing(async () => {
          await rename(temporary, pathOf(id));
          await syncDirectory(folder);
        });
        await documents.set(keyOf(id), uploadSchema, upload);
        if (expiresAt !== undefined) expiring.set(id, expiresAt);
        return upload;
      } catch (error) {
        // If the directory's sync failed, the record may exist nevertheless.
        if (received) await documents.remove(keyOf(id)).catch(() => undefined);
        await Promise.allSettled([temporary, pathOf(id)].map((path) => rm(path, { force: true })));
        throw error;
      }
    },

    find(id) {
      sweepExpired();
      return lookUp(id);
    },

    async open(id) {
      sweepExpired();
      const upload = await lookUp(id);
      if (!upload) return undefined;
      let file: FileHandle | undefined;
      try {
        file = await open(pathOf(id), 'r');
        return { record: upload, file, size: (await file.stat()).size };
      } catch (error) {
        await file?.close();
        if (errorCode(error) === 'ENOENT') return undefined;
        const message = `upload ${id} cannot be read: ${errorMessage(error)}`;
        throw new ServiceError('persistence.failure', message, { cause: error });
      }
    },

    async copy(id, path) {
      const upload = await lookUp(id);
      if (!upload) return undefined;
      try {
        await copyFile(pathOf(id), path, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      } catch (error) {
        if (errorCode(error) === 'ENOENT') return undefined;
        throw error;
      }
      const copy = await open(path, 'r+');
      try {
        await copy.sync();
      } finally {
        await copy.close();
      }
      return upload;
    },

    async remove(id) {
      const upload = await lookUp(id);
      if (upload) await discard(id);
      return upload !== undefined;
    },

    startSweep: () => inBackground(sweepAll),

    async close() {
      stopped = true;
      await sweeping;
    },
  };
}
