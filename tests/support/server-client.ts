/** Requests to a server, in the test's process or in one of its own. */
import * as z from 'zod';

const envelopeSchema = z.strictObject({
  code: z.number(),
  msg: z.string().min(1),
  // Untyped for tests; the endpoint's schema has validated it.
  data: z.json(),
  request_id: z.string(),
  details: z.json().optional(),
});
export type Envelope = z.infer<typeof envelopeSchema>;

export interface ApiAnswer extends Envelope {
  status: number;
  headers: Headers;
}

export interface ServerClient {
  /** `http://127.0.0.1:<port>`. */
  url: string;
  token: string;
  home: string;
  /** Sends a request with the token and a JSON body; `path` starts with `/api` or is relative to `/api/v1`. */
  api(method: string, path: string, body?: unknown): Promise<ApiAnswer>;
  /** Like `fetch`, with the token, for raw answers and other headers. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

/** The requests of a test to the server at `url`. */
export function serverClient(url: string, token: string): Pick<ServerClient, 'api' | 'fetch'> {
  const send = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${token}`);
    return fetch(url + path, { ...init, headers });
  };
  return {
    fetch: send,
    async api(method, path, body) {
      const target = path.startsWith('/api/') ? path : `/api/v1${path}`;
      const response = await send(target, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
      const envelope = envelopeSchema.parse(await response.json());
      return { ...envelope, status: response.status, headers: response.headers };
    },
  };
}
