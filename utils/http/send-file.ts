/** The one way bytes of a file leave the server: whole or a part, and with the same headers for every endpoint. */
import type { IncomingMessage } from 'node:http';
import type { FileHandle } from 'node:fs/promises';
import { FILE_POLICY } from '#server/auth/policies.ts';
import { allowsRange, namesEtag, parseRange } from './byte-range.ts';
import type { Reply } from './reply.ts';

export interface SentFile {
  /** Open for reading; the reply owns it from now on and closes it, sent or not. */
  file: FileHandle;
  /** Bytes that are announced. A file that turns out to be shorter breaks the connection, more than that is not sent. */
  size: number;
  /** Without quotes; equal means that the bytes have not changed. */
  etag: string;
  contentType: string;
  lastModified?: Date;
  /** See `contentDisposition`. */
  disposition?: string;
}

export interface SendOptions {
  /** Whether `If-None-Match` may be answered with 304; it is looked at before `Range`. */
  conditional?: boolean;
}

/**
 * The reply of a raw endpoint that sends a file. The request's `Range` and `If-Range` are honoured (206; there is no
 * 416: what cannot be honoured is answered with the whole file), HEAD has the headers alone, and a client that leaves
 * ends the reading.
 */
export async function sendFile(request: IncomingMessage, sent: SentFile, options: SendOptions = {}): Promise<Reply> {
  const { file, size, etag } = sent;
  const { headers } = request;
  const tag = `"${etag}"`;
  if (options.conditional && namesEtag(headers['if-none-match'], etag)) {
    await file.close();
    return { status: 304, headers: { ...FILE_POLICY, etag: tag } };
  }
  const ifRange = headers['if-range'];
  const range = Array.isArray(ifRange) || !allowsRange(ifRange, etag) ? undefined : parseRange(headers.range, size);
  const { start, end } = range ?? { start: 0, end: size - 1 };
  const reply: Reply = {
    status: range ? 206 : 200,
    headers: {
      ...FILE_POLICY,
      'content-type': sent.contentType,
      'content-length': end - start + 1,
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      etag: tag,
      ...(range ? { 'content-range': `bytes ${start}-${end}/${size}` } : {}),
      ...(sent.lastModified ? { 'last-modified': sent.lastModified.toUTCString() } : {}),
      ...(sent.disposition ? { 'content-disposition': sent.disposition } : {}),
    },
  };
  if (size === 0 || request.method === 'HEAD') {
    await file.close();
    return reply;
  }
  return { ...reply, body: file.createReadStream({ start, end }) };
}
