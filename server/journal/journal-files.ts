/**
 * File access of the journal: its file, its blobs and its lock, all in the session's folder. No other part of the
 * journal opens files, so another kind of store is another implementation of these functions.
 */
import { randomBytes } from 'node:crypto';
import nodeFs from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { errorCode } from '#server/errors/errno.ts';
import { syncDirectory } from '#server/files/atomic-write.ts';
import { READ_FLAGS } from '#server/files/open-regular.ts';
import {
  acquireLease,
  leaseOwner,
  leaseReleased,
  type Lease,
  type LeaseHolder,
  type LeaseOwner,
} from '#server/storage/lease.ts';

/** All functions take the session's folder and throw errors of the file system. */
export interface JournalFiles {
  /** Creates the folder and the file of a new session. Throws EEXIST when the file exists. */
  create(dir: string, text: string): void;
  /** Creates the file in an existing folder: `head`, then these bytes of another folder's file. */
  copy(from: CopiedBytes, dir: string, head: string): Promise<void>;
  /** Flushes the journal, the entries of its folder and the folder's own entry to the disk (fsync). */
  sync(dir: string): Promise<void>;
  /** Renames a finished folder durably. */
  rename(from: string, to: string): Promise<void>;
  /** Throws ENOENT without a journal. */
  openToRead(dir: string): Promise<JournalReader>;
  /**
   * Opens the file like `openToRead`, but each call blocks: for threads that have nothing else to do, because a
   * promise costs several times as much as a read of cached bytes.
   */
  openToReadSync(dir: string): JournalReader;
  /** Bytes of the journal; 0 without one. */
  size(dir: string): Promise<number>;
  /** Creates the file if it is missing. */
  openToWrite(dir: string): JournalFile;
  /** Removes the session's folder with all its content. */
  remove(dir: string): Promise<void>;

  /** Bytes of a blob's file; undefined when it is missing. */
  blobSize(dir: string, hash: string): Promise<number | undefined>;
  blobSizeSync(dir: string, hash: string): number | undefined;
  /** Writes the text atomically: complete or not at all. */
  writeBlob(dir: string, hash: string, bytes: Buffer): Promise<void>;
  writeBlobSync(dir: string, hash: string, bytes: Buffer): void;
  /** Undefined when it cannot be read; throws when the process has too many open files, for the blob may exist. */
  readBlob(dir: string, hash: string): Promise<Buffer | undefined>;
  syncBlobs(dir: string, hashes: readonly string[]): Promise<void>;

  /** The live server that owns the lock, if any. */
  lockOwner(dir: string, holder: LeaseHolder): Promise<LeaseOwner | undefined>;
  /** Whether the last owner released the lock, or there never was one; false also while a live server owns it. */
  lockReleased(dir: string): Promise<boolean>;
  /** Acquires the lock, or returns the live server that owns it. */
  takeLock(dir: string, holder: LeaseHolder): Promise<{ lease: Lease } | { owner: LeaseOwner }>;
}

export interface CopiedBytes {
  dir: string;
  start: number;
  end: number;
}

export interface JournalReader {
  /** Reads up to `length` bytes into the buffer; returns how many were read, 0 at the end of the file. */
  read(into: Buffer, length: number, position: number): Promise<number>;
  size(): Promise<number>;
  close(): Promise<void>;
}

/** Synchronous, except for `sync`. */
export interface JournalFile {
  size(): number;
  /** Returns how many bytes were written, which may be fewer. */
  write(bytes: Buffer, position: number): number;
  truncate(length: number): void;
  sync(): Promise<void>;
  close(): void;
}

/** The functions of `node:fs` in use; tests pass one that fails, counts or writes short. */
export interface JournalFs extends Pick<
  typeof nodeFs,
  | 'closeSync'
  | 'fdatasync'
  | 'fstatSync'
  | 'ftruncateSync'
  | 'mkdirSync'
  | 'openSync'
  | 'readSync'
  | 'renameSync'
  | 'rmSync'
  | 'statSync'
  | 'writeFileSync'
> {
  writeSync(fd: number, bytes: Buffer, offset: number, length: number, position: number): number;
  promises: Pick<typeof nodeFs.promises, 'mkdir' | 'open' | 'readFile' | 'rename' | 'rm' | 'stat' | 'writeFile'>;
}

/** Bytes copied per read. */
const COPY_BYTES = 1024 * 1024;

const journalPath = (dir: string) => join(dir, 'journal.ndjson');
const lockPath = (dir: string) => join(dir, 'lock');
const blobFolder = (dir: string) => join(dir, 'blobs');
const blobPath = (dir: string, hash: string) => join(blobFolder(dir), hash);
const temporaryPath = (path: string) => `${path}.tmp-${randomBytes(4).toString('hex')}`;

export function createJournalFiles(fs: JournalFs = nodeFs): JournalFiles {
  const { promises } = fs;
  const datasync = promisify(fs.fdatasync);

  async function copyBytes(source: string, start: number, end: number, to: nodeFs.promises.FileHandle): Promise<void> {
    const from = await promises.open(journalPath(source), 'r');
    try {
      const piece = Buffer.allocUnsafe(Math.min(COPY_BYTES, end - start));
      for (let at = start; at < end;) {
        const { bytesRead } = await from.read(piece, 0, Math.min(piece.length, end - at), at);
        if (bytesRead === 0) throw new Error('a journal is shorter than it was');
        await to.writeFile(piece.subarray(0, bytesRead));
        at += bytesRead;
      }
    } finally {
      await from.close();
    }
  }

  return {
    create(dir, text) {
      fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
      fs.writeFileSync(journalPath(dir), text, { flag: 'wx', mode: 0o600 });
    },
    async copy({ dir: source, start, end }, dir, head) {
      const to = await promises.open(journalPath(dir), 'wx', 0o600);
      try {
        await to.write(head);
        if (end > start) await copyBytes(source, start, end, to);
      } finally {
        await to.close();
      }
    },
    async sync(dir) {
      const file = await promises.open(journalPath(dir), 'r');
      await file.sync().finally(() => file.close());
      await syncDirectory(blobFolder(dir)).catch((error: unknown) => {
        if (errorCode(error) !== 'ENOENT') throw error;
      });
      await syncDirectory(dir);
      await syncDirectory(dirname(dir));
    },
    async rename(from, to) {
      await promises.rename(from, to);
      await syncDirectory(dirname(to));
    },
    async openToRead(dir) {
      const file = await promises.open(journalPath(dir), 'r');
      return {
        read: async (into, length, position) => (await file.read(into, 0, length, position)).bytesRead,
        size: async () => (await file.stat()).size,
        close: () => file.close(),
      };
    },
    openToReadSync(dir) {
      // A named pipe that another program put there would block the thread for ever.
      const fd = fs.openSync(journalPath(dir), READ_FLAGS);
      return {
        read: async (into, length, position) => fs.readSync(fd, into, 0, length, position),
        size: async () => fs.fstatSync(fd).size,
        close: async () => fs.closeSync(fd),
      };
    },
    async size(dir) {
      try {
        return (await promises.stat(journalPath(dir))).size;
      } catch (error) {
        if (errorCode(error) === 'ENOENT') return 0;
        throw error;
      }
    },
    openToWrite(dir) {
      const fd = fs.openSync(journalPath(dir), nodeFs.constants.O_RDWR | nodeFs.constants.O_CREAT, 0o600);
      return {
        size: () => fs.fstatSync(fd).size,
        write: (bytes, position) => fs.writeSync(fd, bytes, 0, bytes.length, position),
        truncate: (length) => fs.ftruncateSync(fd, length),
        sync: () => datasync(fd),
        close: () => fs.closeSync(fd),
      };
    },
    remove: (dir) => promises.rm(dir, { recursive: true, force: true }),

    async blobSize(dir, hash) {
      const found = await promises.stat(blobPath(dir, hash)).catch(() => undefined);
      return found?.size;
    },
    blobSizeSync: (dir, hash) => fs.statSync(blobPath(dir, hash), { throwIfNoEntry: false })?.size,
    async writeBlob(dir, hash, bytes) {
      await promises.mkdir(blobFolder(dir), { recursive: true, mode: 0o700 });
      const path = blobPath(dir, hash);
      const temporary = temporaryPath(path);
      try {
        await promises.writeFile(temporary, bytes, { mode: 0o600, flag: 'wx' });
        await promises.rename(temporary, path);
      } catch (error) {
        await promises.rm(temporary, { force: true });
        throw error;
      }
    },
    writeBlobSync(dir, hash, bytes) {
      fs.mkdirSync(blobFolder(dir), { recursive: true, mode: 0o700 });
      const path = blobPath(dir, hash);
      const temporary = temporaryPath(path);
      try {
        fs.writeFileSync(temporary, bytes, { mode: 0o600, flag: 'wx' });
        fs.renameSync(temporary, path);
      } catch (error) {
        fs.rmSync(temporary, { force: true });
        throw error;
      }
    },
    async readBlob(dir, hash) {
      try {
        return await promises.readFile(blobPath(dir, hash));
      } catch (error) {
        const code = errorCode(error);
        if (code === 'EMFILE' || code === 'ENFILE') throw error;
        return undefined;
      }
    },
    async syncBlobs(dir, hashes) {
      for (const hash of hashes) {
        const file = await promises.open(blobPath(dir, hash), 'r');
        await file.sync().finally(() => file.close());
      }
      await syncDirectory(blobFolder(dir));
    },

    lockOwner: (dir, holder) => leaseOwner(lockPath(dir), holder),
    lockReleased: (dir) => leaseReleased(lockPath(dir)),
    takeLock: (dir, holder) => acquireLease(lockPath(dir), holder),
  };
}

/** The implementation on this machine's disk. */
export const journalFiles = createJournalFiles();
