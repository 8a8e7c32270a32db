/** Runs the built server on a temporary home, for tests that kill and restart it. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import * as z from 'zod';
import { makeBuiltHome, type BuiltHome } from './built-home.ts';
import { spawnServer, type SpawnedServer } from './spawned-server.ts';

export interface BuiltServer {
  /** Home of the server. */
  readonly base: BuiltHome;
  readonly server: SpawnedServer;
  /** The data of a reply that must succeed. */
  ok(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Creates a session in the project and returns its id. */
  newSession(): Promise<string>;
  /** Submits a prompt and returns its id. */
  prompt(session: string, text: string, more?: object): Promise<string>;
  /** Stops the server and starts another one on its home; `between` runs while no server does. */
  restart(signal: 'SIGKILL' | 'SIGTERM', between?: () => Promise<void>): Promise<void>;
}

/**
 * Call it once per file: starts a server for each test, after `prepare`, and stops it after the test. With `per` `file`
 * all tests of the file share one, each in sessions of its own.
 */
export function useBuiltServer(
  prepare: (base: BuiltHome) => void | Promise<void> = () => {},
  { per }: { per: 'test' | 'file' } = { per: 'test' },
): BuiltServer {
  let base: BuiltHome;
  let server: SpawnedServer;

  const [before, after] = per === 'test' ? [beforeEach, afterEach] : [beforeAll, afterAll];
  before(async () => {
    base = await makeBuiltHome();
    await prepare(base);
    server = await spawnServer({ home: base.home });
  });
  after(async () => {
    await server.close();
    await base.remove();
  });
  // An answer that a test has left, such as one of an interrupted run, is not sent to the next test.
  if (per === 'file') afterEach(() => base.model.clearQueue());

  async function ok(method: string, path: string, body?: unknown): Promise<unknown> {
    const { code, msg, data } = await server.api(method, path, body);
    expect(`${code} ${msg}`).toBe('0 success');
    return data;
  }

  return {
    get base() {
      return base;
    },
    get server() {
      return server;
    },
    ok,
    async newSession() {
      const made = await ok('POST', '/sessions', { metadata: { cwd: base.project } });
      return z.object({ id: z.string() }).parse(made).id;
    },
    async prompt(session, text, more = {}) {
      const accepted = await ok('POST', `/sessions/${session}/prompts`, { content: [{ type: 'text', text }], ...more });
      return z.object({ prompt_id: z.string() }).parse(accepted).prompt_id;
    },
    async restart(signal, between) {
      await server.stop(signal);
      await between?.();
      server = await spawnServer({ home: base.home });
    },
  };
}
