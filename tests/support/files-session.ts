/**
 * A session in a temporary directory on a real server, with a sibling directory outside it, for tests of file actions.
 */
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sessionSchema } from '#schema/rest/session.ts';
import { startServer, type TestServer, type TestServerOptions } from './server.ts';
import type { ApiAnswer } from './server-client.ts';

export interface FilesSession {
  server: TestServer;
  id: string;
  /** The work directory, links resolved. */
  root: string;
  /** A sibling directory that no action may reach. */
  outside: string;
  /** `POST fs:<action>`. */
  fs(action: string, body?: unknown): Promise<ApiAnswer>;
  /** Returns the reply's data; fails unless the code is 0. */
  ok(action: string, body?: unknown): Promise<ApiAnswer['data']>;
  close(): Promise<void>;
}

/** Starts everything; `close` stops and removes it. */
export async function startFilesSession(options: TestServerOptions = {}): Promise<FilesSession> {
  const base = await mkdtemp(join(await realpath(tmpdir()), 'service-code-files-'));
  const root = join(base, 'work');
  const outside = join(base, 'outside');
  await mkdir(root);
  await mkdir(outside);
  const server = await startServer(options);
  const created = await server.api('POST', '/sessions', { metadata: { cwd: root } });
  const { id } = sessionSchema.parse(created.data);
  const fs = (action: string, body?: unknown) => server.api('POST', `/sessions/${id}/fs:${action}`, body);
  return {
    server,
    id,
    root,
    outside,
    fs,
    async ok(action, body) {
      const answer = await fs(action, body);
      if (answer.code !== 0) throw new Error(`fs:${action}: ${answer.code} ${answer.msg}`);
      return answer.data;
    },
    async close() {
      await server.close();
      await rm(base, { recursive: true, force: true });
    },
  };
}
