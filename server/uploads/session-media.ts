/**
 * Session media: copies of the uploads that a session's prompts refer to, `media/<id><extension>` in its folder with a
 * record next to each, so that the session does not depend on the uploads. A file without a record is ignored.
 */
import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, mkdir, open, readFile, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { cutText } from '#server/text/truncate.ts';
import { writeFileAtomic } from '#server/files/atomic-write.ts';
import { errorCode } from '#server/errors/errno.ts';
import { jsonText } from '#server/text/json-text.ts';
import { isUploadId, type Uploads } from './uploads.ts';

const recordSchema = z.object({
  id: z.string(),
  name: z.string(),
  media_type: z.string(),
  size: z.number(),
  /** File name in the folder. */
  file: z.string(),
});

const recordText = jsonText.pipe(recordSchema);

export interface SessionMedia {
  id: string;
  name: string;
  media_type: string;
  size: number;
  path: string;
}

const folderOf = (sessionDir: string) => join(sessionDir, 'media');
/** An extension has no dot, so no file of another upload has this name. */
const recordPath = (sessionDir: string, id: string) => join(folderOf(sessionDir), `${id}.meta.json`);

/** A link instead of a file is treated as missing. */
const ABSENT = new Set(['ENOENT', 'ELOOP']);

async function absent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (ABSENT.has(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}

/** The session's copy; undefined without one or without a valid record. Its bytes may be missing nevertheless. */
export async function findSessionMedia(sessionDir: string, id: string): Promise<SessionMedia | undefined> {
  if (!isUploadId(id)) return undefined;
  const text = await absent(readFile(recordPath(sessionDir, id), 'utf8'));
  if (text === undefined) return undefined;
  const record = recordText.safeParse(text);
  if (!record.success) return undefined;
  const { file, ...media } = record.data;
  return { ...media, path: join(folderOf(sessionDir), basename(file)) };
}

export interface OpenMedia {
  record: SessionMedia;
  /** The caller closes it. */
  file: FileHandle;
  size: number;
}

/** `findSessionMedia` with the file opened for reading; also undefined when the bytes are missing. Follows no link. */
export async function openSessionMedia(sessionDir: string, id: string): Promise<OpenMedia | undefined> {
  const record = await findSessionMedia(sessionDir, id);
  if (!record) return undefined;
  const file = await absent(open(record.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK));
  if (!file) return undefined;
  try {
    const stats = await file.stat();
    if (stats.isFile()) return { record, file, size: stats.size };
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return undefined;
}

/**
 * Copies an upload into the session, unless it has it already; undefined when the upload was removed. Created files are
 * added to `written`.
 */
export async function keepUpload(
  uploads: Pick<Uploads, 'copy'>,
  sessionDir: string,
  id: string,
  written: string[],
): Promise<SessionMedia | undefined> {
  const known = await findSessionMedia(sessionDir, id);
  if (known && (await absent(stat(known.path)))?.size === known.size) return known;
  const folder = folderOf(sessionDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = join(folder, `${id}.tmp-${randomUUID()}`);
  try {
    const upload = await uploads.copy(id, temporary);
    if (!upload) return undefined;
    const { name, media_type, size } = upload;
    return await keep(sessionDir, { id, name, media_type, size }, (path) => rename(temporary, path), written);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** `keepUpload` for bytes derived from an upload; their id is a hash of the bytes, so storing is idempotent. */
export async function keepMade(
  sessionDir: string,
  { data, type, name }: { data: Uint8Array; type: string; name: string },
  written: string[],
): Promise<SessionMedia> {
  const id = `f_${createHash('sha256').update(data).digest('hex').slice(0, 32)}`;
  const known = await findSessionMedia(sessionDir, id);
  if (known && (await absent(stat(known.path)))?.size === known.size) return known;
  await mkdir(folderOf(sessionDir), { recursive: true, mode: 0o700 });
  const media = { id, name, media_type: type, size: data.length };
  return keep(sessionDir, media, (path) => writeFileAtomic(path, data), written);
}

/** Writes the record last: bytes without one are ignored. */
async function keep(
  sessionDir: string,
  media: Omit<SessionMedia, 'path'>,
  put: (path: string) => Promise<void>,
  written: string[],
): Promise<SessionMedia> {
  const { id, media_type } = media;
  const { default: mime } = await import('mime');
  const extension = mime.getExtension(media_type);
  const file = extension === null ? id : `${id}.${extension}`;
  const path = join(folderOf(sessionDir), file);
  await put(path);
  written.push(path);
  await writeFileAtomic(recordPath(sessionDir, id), JSON.stringify({ ...media, file }));
  written.push(recordPath(sessionDir, id));
  return { ...media, path };
}

const MAX_NAME_CHARS = 100;
/** A name with the id before it must not exceed the limit of file systems. */
const MAX_NAME_BYTES = 200;

/** A file name for people and models, which cannot leave its folder. */
function safeName(name: string): string {
  const plain = name
    .replace(/[/\\]/g, '_')
    .replace(/\p{Cc}/gu, '')
    .replace(/^\.+/, '');
  let cut = cutText(plain, MAX_NAME_CHARS);
  while (Buffer.byteLength(cut) > MAX_NAME_BYTES) cut = cutText(cut, cut.length - 1);
  return cut || 'attachment';
}

/** Stores the copy under its name, where an agent finds it: `attachments/<id>-<name>`. Returns the path. */
export async function attachMedia(sessionDir: string, media: SessionMedia, written: string[]): Promise<string> {
  const folder = join(sessionDir, 'attachments');
  const path = join(folder, `${media.id}-${safeName(media.name)}`);
  if ((await absent(stat(path)))?.size === media.size) return path;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = join(folder, `${media.id}.tmp-${randomUUID()}`);
  try {
    // A hard link, so that the bytes are not stored twice.
    await link(media.path, temporary).catch(() => copyFile(media.path, temporary, constants.COPYFILE_FICLONE));
    await rename(temporary, path);
    written.push(path);
    return path;
  } finally {
    await rm(temporary, { force: true });
  }
}
