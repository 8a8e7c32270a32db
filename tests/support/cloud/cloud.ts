/** A scripted cloud over real HTTP: each of its parts answers the requests of its paths. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenDuringTest } from '../listen-during-test.ts';

export interface CloudRequest {
  method: string;
  /** Path without query. */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
}

/** An object is sent as JSON, a string verbatim. */
export interface CloudReply {
  status?: number;
  headers?: Record<string, string>;
  body?: object | string;
}

/** Answers a request; `hang` never answers, undefined leaves it to the next part. */
export type CloudPart = (
  request: CloudRequest,
) => CloudReply | 'hang' | undefined | Promise<CloudReply | 'hang' | undefined>;

export interface Cloud {
  /** `http://127.0.0.1:<port>`. */
  url: string;
  /** All requests in the order of their arrival. */
  requests: CloudRequest[];
  /** The requests of a path. */
  requestsOf(path: string): CloudRequest[];
}

/** Starts a cloud until the test has finished; requests that no part answers get 404. */
export async function cloudDuringTest(...parts: CloudPart[]): Promise<Cloud> {
  const requests: CloudRequest[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://cloud');
      const received: CloudRequest = {
        method: request.method ?? '',
        path: pathname,
        query: searchParams,
        headers: request.headers,
        body: await text(request),
      };
      requests.push(received);
      let reply: CloudReply | 'hang' | undefined;
      for (const part of parts) {
        reply ??= await part(received);
      }
      if (reply === 'hang') return;
      const { status = 200, headers = {}, body = {} } = reply ?? { status: 404, body: { error: 'not_found' } };
      const type = typeof body === 'string' ? 'text/plain' : 'application/json';
      response.writeHead(status, { 'content-type': type, ...headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    })().catch(() => response.destroy());
  });
  const port = await listenDuringTest(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    requestsOf: (wanted) => requests.filter(({ path }) => path === wanted),
  };
}
