/** An opened file and its metadata for responses. */
import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { etagOf } from './etag.ts';
import { fileEncoding, LEGACY_SAMPLE_BYTES } from './file-text.ts';
import { fileType } from './file-types.ts';
import { readBytes } from './open-regular.ts';

export interface OpenedFile {
  /** The receiver must close it. */
  file: FileHandle;
  name: string;
  size: number;
  etag: string;
  mime: string;
  modifiedAt: Date;
}

/** Media type by the name, or else by the content. */
async function mimeOf(file: FileHandle, name: string, size: number): Promise<string> {
  const known = fileType(name)?.mime;
  if (known !== undefined) return known;
  const encoding = await fileEncoding(await readBytes(file, 0, Math.min(size, LEGACY_SAMPLE_BYTES)));
  return encoding === 'utf-8' ? 'text/plain' : 'application/octet-stream';
}

/** Reads the metadata of an opened file; closes the file if that fails. */
export async function openedFile(file: FileHandle, path: string): Promise<OpenedFile> {
  try {
    const stats = await file.stat();
    const name = basename(path);
    const mime = await mimeOf(file, name, stats.size);
    return { file, name, size: stats.size, etag: etagOf(stats), mime, modifiedAt: stats.mtime };
  } catch (error) {
    await file.close();
    throw error;
  }
}
