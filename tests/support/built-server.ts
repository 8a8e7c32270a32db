/** The built server on a home of its own, for tests that kill it and start it again. */
import { afterEach, beforeEach, expect } from 'vitest';
import { z } from 'zod';
import { makeBuiltHome, type BuiltHome } from './built-home.ts';
import { spawnServer, type SpawnedServer } from './server.ts';

export interface BuiltServer {
  /** Those of the test that runs. */
  readonly base: BuiltHome;
  readonly server: SpawnedServer;
  /** The data of a reply that must succeed. */
  ok(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Its id; it works in the project. */
  newSession(): Promise<string>;
  /** The prompt's id. */
  prompt(session: string, text: string, more?: object): Promise<string>;
  /** Ends the server and starts another one on its home; `between` is done while none runs. */
  restart(signal: 'SIGKILL' | 'SIGTERM', between?: () => Promise<void>): Promise<void>;
}

/** To be called once in a file: each test finds a server started, after `prepare`, and none is left behind. */
export function useBuiltServer(prepare: (base: BuiltHome) => void | Promise<void> = () => {}): BuiltServer {
  let base: BuiltHome;
  let server: SpawnedServer;

  beforeEach(async () => {
    base = await makeBuiltHome();
    await prepare(base);
    server = await spawnServer({ home: base.home });
  });
  afterEach(async () => {
    await server.close();
    await base.remove();
  });

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
