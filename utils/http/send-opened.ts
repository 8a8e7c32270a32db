import type { IncomingMessage } from 'node:http';
import type { OpenedFile } from '#server/files/opened-file.ts';
import type { Reply } from './reply.ts';
import { sendFile } from './send-file.ts';

/** For the description of endpoints that send files of the disk. */
export const FILE_HEADERS = ['etag', 'last-modified', 'accept-ranges', 'content-range', 'content-length'];

/** The reply of a file of the disk, which can be asked for again with its etag. */
export const sendOpened = (request: IncomingMessage, opened: OpenedFile, disposition?: string): Promise<Reply> =>
  sendFile(
    request,
    {
      file: opened.file,
      size: opened.size,
      etag: opened.etag,
      contentType: opened.mime,
      lastModified: opened.modifiedAt,
      ...(disposition === undefined ? {} : { disposition }),
    },
    { conditional: true },
  );
