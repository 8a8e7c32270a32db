/** Sends operations of the REST API and unwraps the replies into data or a typed error. */
import { ApiError, ConnectionError, RelayError, reasonOf } from './errors.ts';
import { sendForm, type UploadRequest } from './upload.ts';
import type { BytesOperation, DocumentOperation, Operation, Reply, RequestArguments } from './operations.ts';

export interface RequestSettings {
  /** Base URL of the server's pages, with its trailing slash: `http://127.0.0.1:58627/`. */
  baseUrl: string;
  /** Read for each call, so that a new token is used immediately. */
  token: () => string | undefined;
  /**
   * The name and the secret id that the page sends with each request. The server records a hash of the id with answers
   * and changes, and `onPublicId` receives it.
   */
  caller?: { name: string; id: string; onPublicId(publicId: string): void };
  fetch?: typeof fetch;
  /** The browser's; uploads whose progress is requested are sent with it. Without it they report none. */
  XMLHttpRequest?: new () => UploadRequest;
}

/**
 * Sends an operation by its method and path. Rejects with ApiError (an error reply), ConnectionError (no reply), or the
 * signal's reason.
 *
 *     await request('POST /api/v1/sessions/{session_id}/prompts', { path: { session_id }, body: { content } });
 */
export type Request = <K extends Operation>(operation: K, ...options: RequestArguments<K>) => Promise<Reply<K>>;

interface SentOptions {
  path?: unknown;
  query?: unknown;
  body?: unknown;
  signal?: AbortSignal | undefined;
  onProgress?: ((share: number) => void) | undefined;
}

type Envelope<T> =
  { code: 0; data: T } | { code: number; msg: string; details?: unknown; data?: unknown; request_id?: unknown };

/** A relay adds it to the replies of its own; it removes the header from those of the server. */
const RELAY_ERROR_HEADER = 'x-service-relay-error';

/** Operations whose reply is not an envelope; the compiler requires each of them. */
const RAW: Record<BytesOperation, 'bytes'> & Record<DocumentOperation, 'document'> = {
  'GET /api/v1/files/{file_id}': 'bytes',
  'GET /api/v1/fs:content': 'bytes',
  'GET /api/v1/sessions/{session_id}/fs/{path}:download': 'bytes',
  'GET /api/v1/sessions/{session_id}/media/{file_id}': 'bytes',
  'POST /api/v1/sessions/{session_id}/export': 'bytes',
  'GET /asyncapi.json': 'document',
  'GET /openapi.json': 'document',
};
const rawReplies = new Map<string, 'bytes' | 'document'>(Object.entries(RAW));

export function createRequest(settings: RequestSettings): Request {
  const doFetch = settings.fetch ?? fetch;

  /** Rejects with the signal's reason or with ConnectionError. */
  async function send(operation: string, { path, query, body, signal, onProgress }: SentOptions): Promise<Response> {
    const [method = '', template = ''] = operation.split(' ');
    const values = new Map(entriesOf(path));
    const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values.get(name))));
    const url = new URL(`.${filled}`, settings.baseUrl);
    for (const [name, value] of entriesOf(query)) {
      for (const part of Array.isArray(value) ? value : [value]) {
        if (part !== undefined) url.searchParams.append(name, String(part));
      }
    }
    const headers: Record<string, string> = {};
    const token = settings.token();
    if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
    if (settings.caller) {
      headers['x-service-client-name'] = settings.caller.name;
      headers['x-service-client-id'] = settings.caller.id;
    }
    const { XMLHttpRequest } = settings;
    if (onProgress && XMLHttpRequest && body instanceof FormData) {
      return checked(await sendForm(XMLHttpRequest, url, { headers, body, signal, onProgress }));
    }
    const isJson = body !== undefined && !(body instanceof FormData);
    if (isJson) headers['content-type'] = 'application/json';
    return checked(
      await doFetch(url, {
        method,
        headers,
        ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
        ...(signal && { signal }),
      }),
    );
  }

  /** Rejects for a reply of a relay. */
  function checked(response: Response): Response {
    const publicId = response.headers.get('x-service-client-public-id');
    if (publicId !== null) settings.caller?.onPublicId(publicId);
    const relayError = response.headers.get(RELAY_ERROR_HEADER);
    if (relayError !== null) throw new RelayError(relayError);
    return response;
  }

  async function receive<T>(operation: string, options: SentOptions): Promise<T> {
    const kind = rawReplies.get(operation);
    let response: Response;
    let content: string | Blob;
    try {
      response = await send(operation, options);
      content = kind === 'bytes' && isFile(response) ? await response.blob() : await response.text();
    } catch (error) {
      options.signal?.throwIfAborted();
      if (error instanceof RelayError) throw error;
      throw new ConnectionError(`The server does not answer: ${reasonOf(error)}`);
    }
    return unwrap<T>(response.status, content, kind);
  }

  return (operation, ...[options]) => receive(operation, options ?? {});
}

const entriesOf = (members: unknown): [string, unknown][] => Object.entries(members ?? {});

/** Whether a reply is a file rather than an envelope: a file may be JSON, but its parts can be requested. */
function isFile({ ok, headers }: Response): boolean {
  return ok && (headers.has('accept-ranges') || !headers.get('content-type')?.startsWith('application/json'));
}

/** The data of a reply, typed by the operation and not validated: the server's documents are the contract. */
function unwrap<T>(status: number, content: string | Blob, kind: 'bytes' | 'document' | undefined): T {
  const value = status === 204 ? { code: 0, data: null } : content instanceof Blob ? content : parsed(content);
  if (isEnvelope<T>(value)) {
    if (isSuccess(value)) return value.data;
    const { code, msg, details, data, request_id } = value;
    throw new ApiError(code, msg, {
      status,
      details,
      data,
      requestId: typeof request_id === 'string' ? request_id : undefined,
    });
  }
  if (isRaw<T>(value, kind)) return value;
  throw new ConnectionError(`What answered is not this server (HTTP ${status})`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isEnvelope<T>(value: unknown): value is Envelope<T> {
  return typeof value === 'object' && value !== null && 'code' in value && typeof value.code === 'number';
}

function isSuccess<T>(envelope: Envelope<T>): envelope is { code: 0; data: T } {
  return envelope.code === 0;
}

function isRaw<T>(value: unknown, kind: 'bytes' | 'document' | undefined): value is T {
  return kind === 'bytes' ? value instanceof Blob : kind === 'document' && typeof value === 'object' && value !== null;
}
