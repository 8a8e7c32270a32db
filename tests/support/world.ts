/**
 * The usual fixture of API tests: a real server in this process, a scripted model, and a project folder under git, in
 * which sessions are created.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { stringify } from '@decimalturn/toml-patch';
import { messageSchema, snapshotSchema, type Message, type Snapshot } from '#schema/rest/message.ts';
import { promptSchema, type Prompt } from '#schema/rest/prompt.ts';
import { approvalSchema, type Approval } from '#schema/rest/interaction.ts';
import { sessionSchema, type Session } from '#schema/rest/session.ts';
import { startModelServer, type ModelServer } from './model-server.ts';
import { startServer, type TestServer, type TestServerOptions } from './server.ts';
import type { ApiAnswer } from './server-client.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { connect, type WsClient } from './ws-client.ts';

export interface World {
  server: TestServer;
  model: ModelServer;
  /** A git work tree with one file `a.txt` ("hello\n"). */
  project: string;
  api: TestServer['api'];
  /** Like `api`; fails unless the code is 0. */
  ok(method: string, path: string, body?: unknown): Promise<ApiAnswer['data']>;
  session(body?: Record<string, unknown>): Promise<Session>;
  /** Submits a text prompt; the test has to enqueue the scripted answers before. */
  prompt(sessionId: string, text: string, more?: Record<string, unknown>): Promise<Prompt>;
  snapshot(sessionId: string): Promise<Snapshot>;
  /** All messages, oldest first. */
  messages(sessionId: string): Promise<Message[]>;
  approvals(sessionId: string): Promise<Approval[]>;
  /** A WebSocket that receives the session's events from the first one. */
  watch(sessionId: string): Promise<WsClient>;
  /** Stops the server and starts another on the same home; `between` runs while none does. */
  restart(between?: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export interface WorldOptions extends TestServerOptions {
  /** Additional tables of `config.toml`. */
  config?: Record<string, unknown>;
  /** Members of the model record. */
  modelRecord?: Record<string, unknown>;
  /** Additional models of the same provider, by alias. */
  models?: Record<string, Record<string, unknown>>;
}

/** Starts everything; `close` stops and removes it. */
export async function startWorld({
  config = {},
  modelRecord,
  models = {},
  ...options
}: WorldOptions = {}): Promise<World> {
  const root = await temporaryDirectory();
  const home = join(root, 'home');
  const project = join(root, 'project');
  const model = await startModelServer();
  await mkdir(home, { recursive: true });
  await mkdir(project);
  await writeFile(join(project, 'a.txt'), 'hello\n');
  execFileSync('git', ['init', '--quiet', project]);
  const provided = model.providerConfig(modelRecord ? { model: modelRecord } : {});
  for (const [alias, record] of Object.entries(models)) {
    provided.models[alias] = { provider: 'fake', max_context_size: 262_144, ...record };
  }
  const document = { ...provided, ...config };
  await writeFile(join(home, 'config.toml'), stringify(document));
  const clients: WsClient[] = [];
  // A turn reads the instructions that the test wrote just before.
  const serverOptions = { instructionsMaxAgeMs: 0, ...options, home };
  let server = await startServer(serverOptions);

  const world: World = {
    get server() {
      return server;
    },
    model,
    project,
    api: (...args) => server.api(...args),
    async ok(method, path, body) {
      const answer = await server.api(method, path, body);
      if (answer.code !== 0) throw new Error(`${method} ${path}: ${answer.code} ${answer.msg}`);
      return answer.data;
    },
    session: async (body = { metadata: { cwd: project } }) =>
      sessionSchema.parse(await world.ok('POST', '/sessions', body)),
    prompt: async (sessionId, text, more = {}) =>
      promptSchema.parse(
        await world.ok('POST', `/sessions/${sessionId}/prompts`, { content: [{ type: 'text', text }], ...more }),
      ),
    snapshot: async (sessionId) => snapshotSchema.parse(await world.ok('GET', `/sessions/${sessionId}/snapshot`)),
    async messages(sessionId) {
      const page = z.object({ items: z.array(messageSchema) });
      const data = await world.ok('GET', `/sessions/${sessionId}/messages?page_size=100`);
      return page.parse(data).items.toReversed();
    },
    async approvals(sessionId) {
      const data = await world.ok('GET', `/sessions/${sessionId}/approvals?status=pending`);
      return z.object({ items: z.array(approvalSchema) }).parse(data).items;
    },
    async watch(sessionId) {
      const client = await connect(server);
      clients.push(client);
      await client.send({
        type: 'subscribe',
        payload: { session_ids: [sessionId], cursors: { [sessionId]: { seq: 0 } } },
      });
      return client;
    },
    async restart(between) {
      await server.close();
      await between?.();
      server = await startServer(serverOptions);
    },
    async close() {
      try {
        await Promise.all(clients.map((client) => client.close()));
      } finally {
        await server.close();
        await model.close();
        await rm(root, { recursive: true, force: true });
      }
    },
  };
  return world;
}
