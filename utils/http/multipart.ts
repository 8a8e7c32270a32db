/** Reads `multipart/form-data` bodies as they come: the file goes on in pieces, nothing of it is held. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Busboy } from 'busboy';
import { invalidField, ServiceError } from '#server/errors/service-error.ts';
import { RequestAborted, UnreadableBody } from './body.ts';

/** Beside the file a form has a few short fields; a part's headers are held to 16 KiB by the parser. */
const LIMITS = { fields: 100, fieldSize: 65_536, parts: 1000 };

export interface FilePart {
  /** Base name, no directories; empty when the client sent none. */
  filename: string;
  /** `type/subtype` in lower case, of token characters only. */
  mediaType: string;
  /** To be read to its end; fails when the body breaks off. */
  stream: Readable;
}

/** A form whose body has not been read yet. */
export interface Form {
  /**
   * Reads the body to its end and resolves with its text fields. `onFile` gets the first part that is a file while it
   * arrives, and is awaited; further files are dropped. Throws 40001 for a body that is no whole form.
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

/** The body of this request as a form; nothing is read before it is asked for. */
export function createForm(request: IncomingMessage): Form {
  return {
    async read(onFile) {
      const parser = await createParser(request);
      if (request.destroyed && !request.complete) throw new RequestAborted('the client closed the connection');
      const fields = new Map<string, string>();
      let work: Promise<void> | undefined;

      return new Promise((resolve, reject) => {
        let failed = false;
        function fail(cause: Error): void {
          if (failed) return;
          failed = true;
          request.unpipe(parser).off('error', onGone).off('close', onGone);
          // The stream of the file fails with it.
          parser.destroy(cause);
          const refused = cause instanceof ServiceError ? new UnreadableBody(cause) : cause;
          // What was begun with the file is cleared away before the client is told.
          void Promise.allSettled([work]).then(() => reject(refused));
        }
        function onGone(): void {
          if (!request.complete) fail(new RequestAborted('the client closed the connection'));
        }
        parser
          .on('file', (_field, stream, { filename, mimeType }) => {
            // It is also the parser's, whose error is told once.
            stream.on('error', () => undefined);
            if (work) return void stream.resume();
            // The parser gives none for a name that is empty, whatever its types say.
            work = onFile({ filename: filename || '', mediaType: mimeType, stream });
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
        request.on('error', onGone).on('close', onGone);
        request.pipe(parser);
      });
    },
  };
}
