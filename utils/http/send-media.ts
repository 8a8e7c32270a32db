import type { IncomingMessage } from 'node:http';
import type { FileHandle } from 'node:fs/promises';
import { contentDisposition } from './content-disposition.ts';
import type { Reply } from './reply.ts';
import { sendFile } from './send-file.ts';

export interface Media {
  record: { name: string; media_type: string };
  /** The reply owns it from now on. */
  file: FileHandle;
  size: number;
}

/** Shown in place; never what runs as a page of this server's own origin. */
const SHOWN = /^(?:image\/(?!svg)|video\/|audio\/)/i;

/** The reply of a file that clients brought, under the type that they gave it. */
export function sendMedia(request: IncomingMessage, { record, file, size }: Media, etag: string): Promise<Reply> {
  const kind = SHOWN.test(record.media_type) ? 'inline' : 'attachment';
  const disposition = contentDisposition(kind, record.name);
  return sendFile(request, { file, size, etag, contentType: record.media_type, disposition });
}
