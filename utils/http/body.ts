/** Reads JSON bodies: at most so many bytes, of the JSON type, without keys that reach a prototype. */
import type { IncomingMessage } from 'node:http';
import { readRawBody, type H3Event } from 'h3';
import { invalidField } from '#server/errors/service-error.ts';
import type { ServiceError } from '#server/errors/service-error.ts';
import { JsonTooDeep, parseJson } from '#server/text/json.ts';
import { closeWhenIdle } from './idle-body.ts';
import { isLocalRequest } from './local-request.ts';

export const DEFAULT_BODY_LIMIT = 1_048_576;
/** For the two routes that carry base64 media. */
export const MEDIA_BODY_LIMIT = 33_554_432;

export interface BodyLimits {
  maxBytes: number;
  /** Milliseconds without a byte that close the connection. */
  idleMs: number;
}

/** A body that cannot be read to its end, or is not JSON: answered with `connection: close`. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody';
  constructor(readonly answer: ServiceError) {
    super(answer.message);
  }
}

const tooLarge = () => new UnreadableBody(invalidField('', 'Request body is too large'));
const malformed = () => new UnreadableBody(invalidField('', 'Body is not valid JSON'));
const tooDeep = () => new UnreadableBody(invalidField('', 'Body is nested too deeply'));

/** The client disconnected before its body was complete; no reply can be sent. */
export class RequestAborted extends Error {
  override readonly name = 'RequestAborted';
}

/**
 * Whether the connection ended before the body was read. The body may have arrived as a whole, but its stream emits
 * nothing any more.
 */
export const clientHasLeft = ({ destroyed, readableEnded }: IncomingMessage): boolean => destroyed && !readableEnded;

function readBytes(request: IncomingMessage, { maxBytes, idleMs }: BodyLimits): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stopWatch = closeWhenIdle(request, idleMs);
    const settle = (act: () => void) => {
      stopWatch();
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      act();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) return void chunks.push(chunk);
      request.pause();
      settle(() => reject(tooLarge()));
    };
    const onEnd = () => settle(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    const onGone = () => settle(() => reject(new RequestAborted('the client closed the connection')));
    if (clientHasLeft(request)) return onGone();
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

/** The body of a call within the process, which is no stream, or one that a middleware has read, which h3 keeps. */
async function heldBytes(event: H3Event, { maxBytes }: BodyLimits): Promise<Buffer> {
  const bytes = (await readRawBody(event, false)) ?? Buffer.alloc(0);
  if (bytes.length > maxBytes) throw tooLarge();
  return bytes;
}

/** Whether a parsed value holds a key that could reach a prototype when merged. */
function holdsPrototypeKey(root: unknown): boolean {
  const queue = [root];
  for (let value = queue.pop(); value !== undefined; value = queue.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    if (Object.hasOwn(value, '__proto__')) return true;
    for (const [key, member] of Object.entries(value)) {
      if (typeof member !== 'object' || member === null) continue;
      if (key === 'constructor' && Object.hasOwn(member, 'prototype')) return true;
      queue.push(member);
    }
  }
  return false;
}

/** Words without which no prototype key can be in the text; a backslash may hide one. */
const SUSPICIOUS = /__proto__|constructor|\\u/;

function parseBody(text: string): unknown {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw error instanceof JsonTooDeep ? tooDeep() : malformed();
  }
  if (SUSPICIOUS.test(text) && holdsPrototypeKey(value)) throw malformed();
  return value;
}

/**
 * The value of a JSON body; undefined when there is none. Fails validation for another content
 * type, `UnreadableBody` (an answer and a closed connection) beyond the limit, for a text that is not JSON, and for one
 * that is nested too deeply.
 */
export async function readJsonBody(event: H3Event, limits: BodyLimits): Promise<unknown> {
  const { req: request } = event.node;
  const isHeld = isLocalRequest(request) || request.readableDidRead;
  const bytes = await (isHeld ? heldBytes(event, limits) : readBytes(request, limits));
  if (bytes.length === 0) return undefined;
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'text/plain') return bytes.toString('utf8');
  if (type !== 'application/json') throw invalidField('', 'Unsupported Media Type');
  return parseBody(bytes.toString('utf8'));
}
