/**
 * The built server with a directory on a mount that does not answer: other requests are served. Build first. What waits
 * for the mount waits until `release`, so a request or stop that it delays never ends, and the test fails by its time
 * limit.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { wasReleased } from '#server/journal/lock.ts';
import { processAlive } from '#server/processes/process-alive.ts';
import { eventually } from '#support/patience.ts';
import { startHungServer, type HungServer } from '#support/hung-server.ts';

const hosts: HungServer[] = [];
async function start(env?: NodeJS.ProcessEnv): Promise<HungServer> {
  const host = await startHungServer(env);
  hosts.push(host);
  return host;
}
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
});

/** Lets the session's agent run a command; returns its output. */
async function runCommand({ server, session, base }: HungServer, command: string): Promise<string> {
  base.model.enqueue({ calls: [{ name: 'Bash', args: { command } }] });
  base.model.enqueue({ text: 'Done.' });
  const body = { content: [{ type: 'text', text: 'Go on.' }], permission_mode: 'yolo' };
  expect(await server.api('POST', `/sessions/${session}/prompts`, body)).toMatchObject({ code: 0 });
  const busy = async () => (await server.api('GET', `/sessions/${session}`)).data;
  await expect.poll(busy).toMatchObject({ busy: false });
  const last = base.model.requests.at(-1)?.body['messages'];
  const messages = z.array(z.looseObject({ role: z.string(), content: z.unknown().optional() })).parse(last);
  return JSON.stringify(messages.findLast(({ role }) => role === 'tool')?.content);
}

test('twelve hanging calls leave threads for other work', async () => {
  const host = await start();
  const { server, fs } = host;
  await host.blockPool(12);
  expect(await server.api('GET', '/meta')).toMatchObject({ code: 0 });
  expect(await fs('stat', { path: 'b.txt' })).toMatchObject({ code: 0, data: { size: 1 } });
  expect(await fs('read', { path: 'b.txt' })).toMatchObject({ code: 0, data: { content: 'b' } });
  expect(await runCommand(host, 'echo "[${UV_THREADPOOL_SIZE-unset}]"')).toContain('[unset]');
  await host.release();
});

test("the user's thread pool size is kept, also for commands", async () => {
  const host = await start({ UV_THREADPOOL_SIZE: '7' });
  expect(await runCommand(host, 'echo "[${UV_THREADPOOL_SIZE-unset}]"')).toContain('[7]');
  await host.blockPool(6);
  expect(await host.fs('stat', { path: 'b.txt' })).toMatchObject({ code: 0 });
  await host.release();
});

test('while every thread hangs, the last token is valid; afterwards requests work again', async () => {
  const host = await start();
  const { server, fs } = host;
  // Loads the endpoint's module, which is read from disk on its first request.
  expect(await server.api('GET', '/meta')).toMatchObject({ code: 0 });
  await host.blockPool(16);
  expect(await server.api('GET', '/meta')).toMatchObject({ code: 0 });
  const wrong = () => server.fetch('/api/v1/meta', { headers: { authorization: 'Bearer wrong' } });
  expect((await wrong()).status).toBe(401);
  await host.release();
  expect(await fs('stat', { path: 'b.txt' })).toMatchObject({ code: 0 });
});

test.each([
  ['when it is opened', {}],
  ['when it is read', { HUNG_FUNCTION: 'opendirSync' }],
])('a directory that hangs %s is an internal error after 10 s, and delays no other listing', async (_when, env) => {
  const host = await start(env);
  const { fsAround } = host;
  let isListed = false;
  const hung = fsAround('list', { path: 'hung' }).finally(() => (isListed = true));
  const many = fsAround('list_many', { paths: ['fine', 'hung'] });
  await expect.poll(host.calls).toBeGreaterThan(0);
  expect(await host.server.api('GET', '/meta')).toMatchObject({ code: 0 });
  expect(await host.fs('stat', { path: 'b.txt' })).toMatchObject({ code: 0 });
  expect(isListed).toBe(false);
  const elsewhere = async () => {
    expect(await host.fs('list', {})).toMatchObject({ code: 0, data: { items: [{ path: 'b.txt' }] } });
    expect(await fsAround('list', { path: 'fine' })).toMatchObject({ code: 0 });
  };
  await elsewhere();
  const msg = expect.stringMatching(/^the file system does not answer: /);
  expect(await hung).toMatchObject({ code: 50001, msg });
  expect(await many).toMatchObject({
    code: 0,
    data: { results: { fine: [{ path: 'fine/a.txt' }] }, partial_errors: { hung: { code: 50001, msg } } },
  });
  await elsewhere();
  await host.release();
  await expect.poll(() => fsAround('list', { path: 'hung' })).toMatchObject({ code: 0 });
  expect(await fsAround('list', { depth: 2 })).toMatchObject({
    code: 0,
    data: { children_by_path: { fine: [{ path: 'fine/a.txt' }], hung: [{ path: 'hung/a.txt' }] } },
  });
});

describe('a stop while threads hang', () => {
  /** Lets the session's agent run a command until it is killed; returns its process id. */
  async function startCommand({ server, session, base }: HungServer): Promise<number> {
    const pidFile = join(base.root, 'pid');
    base.model.enqueue({ calls: [{ name: 'Bash', args: { command: `echo $$ > ${pidFile}; sleep 600` } }] });
    const body = { content: [{ type: 'text', text: 'Go on.' }], permission_mode: 'yolo' };
    expect(await server.api('POST', `/sessions/${session}/prompts`, body)).toMatchObject({ code: 0 });
    return eventually(async () =>
      z.coerce
        .number()
        .int()
        .min(2)
        .parse(await readFile(pidFile, 'utf8')),
    );
  }

  async function sessionFolder({ server, session }: HungServer): Promise<string> {
    const { data } = await server.api('GET', `/sessions/${session}`);
    const { workspace_id } = z.object({ workspace_id: z.string() }).parse(data);
    return join(server.home, 'sessions', workspace_id, session);
  }

  test.each<[string, NodeJS.ProcessEnv, (host: HungServer) => Promise<unknown>]>([
    ['some threads of the pool', {}, (host) => host.blockPool(12)],
    ['all threads of the pool', {}, (host) => host.blockPool(16)],
    [
      'the thread that reads directories',
      { HUNG_FUNCTION: 'opendirSync' },
      async (host) => {
        host.fsAround('list', { path: 'hung' }).catch(() => undefined);
        await expect.poll(host.calls).toBe(1);
      },
    ],
  ])('%s: the process exits, and cleans up', async (_which, env, hang) => {
    const host = await start(env);
    const { server } = host;
    const pid = await startCommand(host);
    const folder = await sessionFolder(host);
    expect(await wasReleased(folder)).toBe(false);
    await hang(host);
    expect(await server.stop('SIGTERM')).toBeNull();
    expect(server.process.signalCode).toBe('SIGKILL');
    expect(await readdir(join(server.home, 'server/instances'))).toEqual([]);
    expect(await wasReleased(folder)).toBe(true);
    await eventually(() => expect(processAlive(pid)).toBe(false));
  });

  test('a second signal makes the process exit, too', async () => {
    const host = await start();
    await host.blockPool(16);
    const stopped = host.server.stop('SIGINT');
    // The listener is closed, so the first signal has been handled.
    await expect
      .poll(
        () =>
          host.server.fetch('/').then(
            () => 'open',
            () => 'closed',
          ),
        { interval: 5 },
      )
      .toBe('closed');
    host.server.process.kill('SIGINT');
    expect(await stopped).toBeNull();
    expect(await readdir(join(host.server.home, 'server/instances'))).toEqual([]);
  });

  test('a mount that answers again allows an orderly exit', async () => {
    const host = await start();
    await host.blockPool(12);
    await host.release();
    await expect.poll(() => host.fsAround('list', { path: 'hung' })).toMatchObject({ code: 0 });
    expect(await host.server.stop('SIGTERM')).toBe(0);
  });
});
