/** A server of the model directory that a test scripts. */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { listenDuringTest } from './listen-during-test.ts';

export interface TestDirectory {
  /** Address of the document. */
  url: string;
  /** All requests in the order of their arrival. */
  requests: IncomingMessage[];
  /** Replaces the answer. */
  answer: RequestListener;
}

/** Answers with a document as JSON. */
export const documentAnswer =
  (document: unknown): RequestListener =>
  (_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(document));
  };

/** Answers with a status without a body. */
export const statusAnswer =
  (status: number, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, headers).end();
  };

/** Starts the server until the test has finished. */
export async function directoryDuringTest(answer: RequestListener): Promise<TestDirectory> {
  const directory: TestDirectory = { url: '', requests: [], answer };
  const server = createServer((request, response) => {
    directory.requests.push(request);
    directory.answer(request, response);
  });
  directory.url = `http://127.0.0.1:${await listenDuringTest(server)}/api.json`;
  return directory;
}

/** The model of an entry, with this id. */
export const directoryModel = (id: string, more: object = {}): object => ({ id, limit: { context: 1000 }, ...more });

/** An entry of the directory with models of these ids. */
export const directoryEntry = (models: string[] = ['m'], more: object = {}): object => ({
  npm: '@ai-sdk/openai-compatible',
  api: 'https://a.example/v1',
  models: Object.fromEntries(models.map((id) => [id, directoryModel(id)])),
  ...more,
});

/** Reads a document as the snapshot of a build. */
export const snapshotOf = (document: unknown) => async (): Promise<Uint8Array<ArrayBuffer>> =>
  Uint8Array.from(Buffer.from(JSON.stringify(document)));

/** Answers with bytes that expand to more than any limit. */
export function compressionBomb(): RequestListener {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
  return (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
  };
}
