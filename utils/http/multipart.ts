/** Reads `multipart/form-data` bodies incrementally: the file is passed on in chunks and never buffered as a whole. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Busboy } from 'busboy';
import { invalidField, ServiceError } from '#server/errors/service-error.ts';
import { clientHasLeft, RequestAborted, UnreadableBody } from './body.ts';
import { closeWhenIdle } from './idle-body.ts';
import { isLocalRequest } from './local-request.ts';

/** Limits of the fields in addition to the file; the parser limits a part's headers to 16 KiB. */
const LIMITS = { fields: 100, fieldSize: 65_536, parts: 1000 };

export interface FilePart {
  /** Base name, no directories; empty when the client sent none. */
  filename: string;
  /** `type/subtype` in lower case, of token characters only; `application/octet-stream` where the part names none. */
  mediaType: string;
  /** To be read to its end; fails when the body breaks off. */
  stream: Readable;
}

/** A form whose body has not been read yet. */
export interface Form {
  /**
   * Reads the body to its end and resolves with its text fields. `onFile` gets the first part that is a file while it
   * arrives, and is awaited; further files are dropped. Throws `validation.failed` for a body that is no whole form.
   */
  read(onFile: (part: FilePart) => Promise<void>): Promise<ReadonlyMap<string, string>>;
}

const malformed = (reason: string) => new UnreadableBody(invalidField('', `Body is not a valid form: ${reason}`));

async function createParser({ headers }: IncomingMessage): Promise<Busboy> {
  const type = headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*(;|$)/i.test(type))
    throw new UnreadableBody(invalidField('', 'Unsupported Media Type'));
  const { default: busboy } = await import('busboy');
  try {
    // Browsers send names in the page's encoding, which is UTF-8.
    return busboy({ headers, limits: LIMITS, defParamCharset: 'utf8' });
  } catch {
    throw malformed('the boundary is missing');
  }
}

/** The type of a part that names none, and of one whose type cannot be read. */
const UNTYPED = 'application/octet-stream';
/** The type that the parser reports for such a part; it may also be declared. */
const AMBIGUOUS = 'text/plain';
/** Bytes in front of the file that are looked at for its headers. */
const HEAD_BYTES = 262_144;

/** Whether the first part with a file name says of what type it is; `head` are the bytes up to its content. */
function namesType({ headers }: IncomingMessage, head: string): boolean {
  const [, quoted, bare] = /boundary=(?:"([^"]*)"|([^\s;]*))/i.exec(headers['content-type'] ?? '') ?? [];
  const parts = `\r\n${head}`.split(`\r\n--${quoted ?? bare}\r\n`).slice(1);
  const own = parts
    .map((part) => part.split('\r\n\r\n', 1)[0] ?? '')
    .find((part) => /^content-disposition:.*filename/im.test(part));
  return own === undefined || /^content-type:\s*[\w.+-]+\/[\w.+-]/im.test(own);
}

/**
 * The body of this request as a form; nothing is read before `read`. `idleMs` without a byte close the connection while
 * it is read.
 */
export function createForm(request: IncomingMessage, idleMs: number): Form {
  return {
    async read(onFile) {
      if (isLocalRequest(request)) throw malformed('a call within the process cannot send one');
      const parser = await createParser(request);
      if (clientHasLeft(request)) throw new RequestAborted('the client closed the connection');
      const fields = new Map<string, string>();
      const head: Buffer[] = [];
      let headBytes = 0;
      let work: Promise<void> | undefined;

      function onHead(chunk: Buffer): void {
        head.push(chunk);
        headBytes += chunk.length;
        if (headBytes > HEAD_BYTES) request.off('data', onHead);
      }
      function typeOf(declared: string): string {
        request.off('data', onHead);
        return declared !== AMBIGUOUS || namesType(request, Buffer.concat(head).toString('latin1'))
          ? declared
          : UNTYPED;
      }

      const stopWatch = closeWhenIdle(request, idleMs);
      return new Promise<ReadonlyMap<string, string>>((resolve, reject) => {
        let failed = false;
        function fail(cause: Error): void {
          if (failed) return;
          failed = true;
          request.unpipe(parser).off('error', onGone).off('close', onGone).off('data', onHead);
          // The stream of the file fails with it.
          parser.destroy(cause);
          const refused = cause instanceof ServiceError ? new UnreadableBody(cause) : cause;
          // The reply waits until `onFile` has removed its partial file.
          void Promise.allSettled([work]).then(() => reject(refused));
        }
        function onGone(): void {
          if (clientHasLeft(request)) fail(new RequestAborted('the client closed the connection'));
        }
        parser
          .on('file', (_field, stream, { filename, mimeType }) => {
            // The parser fails with the same error, which is reported a single time.
            stream.on('error', () => undefined);
            if (work) return void stream.resume();
            // The parser gives none for a name that is empty, whatever its types say.
            work = onFile({ filename: filename || '', mediaType: typeOf(mimeType), stream });
            work.catch(fail);
          })
          .on('field', (name, value, { valueTruncated }) => {
            if (valueTruncated) fail(malformed(`the field ${name} is too long`));
            else fields.set(name, value);
          })
          .on('fieldsLimit', () => fail(malformed('too many fields')))
          .on('partsLimit', () => fail(malformed('too many parts')))
          .on('error', (error) => fail(malformed(error instanceof Error ? error.message : String(error))))
          .on('close', () => {
            if (!failed) void Promise.resolve(work).then(() => resolve(fields), fail);
          });
        request.on('error', onGone).on('close', onGone).on('data', onHead);
        request.pipe(parser);
      }).finally(stopWatch);
    },
  };
}
