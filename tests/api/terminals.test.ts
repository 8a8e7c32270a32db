/** Terminals over REST: their directory, their program, and their end. */
import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { processAlive } from '#server/processes/process-alive.ts';
import { openTerminal, PLAIN_SHELL, readTerminal, viewTerminal } from '#support/terminals.ts';
import { startWorld, type World } from '#support/world.ts';
import { startServer, type TestServerOptions } from '#support/server.ts';
import { terminalSchema } from '#schema/rest/terminal.ts';

let world: World;
let sessionId: string;
beforeAll(async () => {
  world = await startWorld({
    env: () => ({
      ...process.env,
      // Excludes the startup files of the machine's user.
      HOME: '/nonexistent',
      SERVICE_CODE_PASSWORD: 'hunter2',
      SERVICE_MODEL_API_KEY: 'sk-1',
      VISIBLE: 'yes',
    }),
  });
  ({ id: sessionId } = await world.session());
});
afterAll(() => world.close());

const create = (body: unknown, id = sessionId) => world.api('POST', `/sessions/${id}/terminals`, body);
const list = async (id = sessionId) =>
  z.object({ items: z.array(terminalSchema) }).parse(await world.ok('GET', `/sessions/${id}/terminals`)).items;

/** Returns the output of a terminal that only runs one program. */
async function printed(body: object): Promise<string> {
  const terminal = await openTerminal(world, sessionId, body);
  const client = await world.watch(sessionId);
  const viewed = viewTerminal(client, terminal);
  await viewed.send('attach');
  await viewed.exit();
  return viewed.text();
}

describe('a new terminal', () => {
  it('runs the user’s shell in the work directory, 80 by 24', async () => {
    const terminal = terminalSchema.parse(await world.ok('POST', `/sessions/${sessionId}/terminals`, {}));
    expect(terminal).toEqual({
      id: expect.stringMatching(/^term_[0-9a-f-]{36}$/),
      session_id: sessionId,
      cwd: world.project,
      shell: process.env.SHELL || expect.stringMatching(/^\//),
      cols: 80,
      rows: 24,
      status: 'running',
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    await world.ok('POST', `/sessions/${sessionId}/terminals/${terminal.id}:close`);
  });

  it('accepts a directory, a program and a size', async () => {
    await mkdir(join(world.project, 'deep/er'), { recursive: true });
    const terminal = await openTerminal(world, sessionId, { cwd: 'deep/er/../er', cols: 100, rows: 50 });
    expect(terminal).toMatchObject({ cwd: join(world.project, 'deep/er'), shell: PLAIN_SHELL, cols: 100, rows: 50 });
    const viewed = viewTerminal(await world.watch(sessionId), terminal);
    await viewed.send('attach');
    await viewed.send('input', { data: 'pwd; stty size; echo $TERM, $PWD.\n' });
    const real = await realpath(world.project);
    await viewed.until(new RegExp(`${real}/deep/er\\r\\n50 100\\r\\nxterm-256color, .*/deep/er\\.`));
    await viewed.send('close');
  });

  it('has the environment of the server without its secrets', async () => {
    const variables = (await printed({ shell: 'env' })).split('\r\n');
    expect(variables).toContain('VISIBLE=yes');
    expect(variables).toContain('TERM=xterm-256color');
    expect(variables.filter((line) => /hunter2|sk-1/.test(line))).toEqual([]);
  });

  it('may start in any directory inside, but not outside', async () => {
    await mkdir(join(world.project, '~'));
    await symlink('..', join(world.project, 'out'));
    await symlink('deep', join(world.project, 'in'));
    await writeFile(join(world.project, 'file'), '');
    // The last one leaves the directory and returns.
    for (const cwd of ['.', './deep', '~', 'in/er', 'deep/../in', '../project', 'out/project']) {
      const { data } = await create({ cwd, shell: '/bin/true' });
      expect(data).toMatchObject({ cwd: join(world.project, cwd) });
    }
    for (const cwd of ['..', 'deep/../..', '../project2', 'out', 'out/missing']) {
      expect(await create({ cwd })).toMatchObject({ code: 41304, msg: `path ${cwd} is outside workspace` });
    }
    for (const cwd of ['missing', 'file', 'deep/../missing'])
      expect(await create({ cwd })).toMatchObject({ code: 40409 });
    for (const cwd of ['/', '/tmp', '\\x', 'C:\\x', 'c:/x']) {
      expect(await create({ cwd })).toMatchObject({
        code: 40001,
        details: [{ path: 'cwd', message: 'cwd must be relative to the session workspace' }],
      });
    }
  });

  it.each([
    [{ cols: 0 }, 'cols'],
    [{ cols: 1.5 }, 'cols'],
    [{ rows: 65_536 }, 'rows'],
    [{ cols: '80' }, 'cols'],
    [{ shell: '' }, 'shell'],
    [{ shell: '/bin/sh\0x' }, 'shell'],
    [{ cwd: '' }, 'cwd'],
    [{ cwd: 'a\0b' }, 'cwd'],
    [{ runtime_id: '' }, 'runtime_id'],
  ])('is refused with %j, for any session', async (body, path) => {
    expect(await create(body, 'session_none')).toMatchObject({ code: 40001, details: [{ path }] });
  });

  it('requires a body, then a session, then a runtime', async () => {
    expect(await create(undefined)).toMatchObject({ code: 40001 });
    expect(await create({ runtime_id: 'x' }, 'session_none')).toMatchObject({
      code: 40401,
      msg: 'session session_none does not exist',
    });
    const { workspace_id } = await world.session();
    expect(await create({ runtime_id: 'moon', cwd: '..' })).toMatchObject({
      code: 40420,
      msg: `runtime moon does not exist in workspace ${workspace_id}`,
    });
  });

  it('whose program cannot be started exits with 1 a moment later', async () => {
    const answer = await create({ shell: '/no/such/program' });
    expect(answer).toMatchObject({ code: 0, data: { status: 'running' } });
    const terminal = terminalSchema.parse(answer.data);
    await expect.poll(() => readTerminal(world, terminal)).toMatchObject({ status: 'exited', exit_code: 1 });
  });

  it('does not touch its session', async () => {
    const { id, updated_at } = await world.session();
    await openTerminal(world, id);
    expect(await world.ok('GET', `/sessions/${id}`)).toMatchObject({ busy: false, updated_at });
  });
});

describe('a terminal', () => {
  it('is listed and readable, also after its exit', async () => {
    const { id } = await world.session();
    const first = await openTerminal(world, id);
    const second = await openTerminal(world, id);
    expect(await list(id)).toEqual([first, second]);
    const viewed = viewTerminal(await world.watch(id), first);
    await viewed.send('input', { data: 'exit 7\n' });
    await expect
      .poll(() => readTerminal(world, first))
      .toEqual({ ...first, status: 'exited', exited_at: expect.any(String), exit_code: 7 });
    expect((await list(id)).map(({ status }) => status)).toEqual(['exited', 'running']);
  });

  it('that a signal terminated has no exit code', async () => {
    const terminal = await openTerminal(world, sessionId);
    const viewed = viewTerminal(await world.watch(sessionId), terminal);
    await viewed.send('attach');
    await viewed.send('input', { data: 'kill -9 $$\n' });
    expect(await viewed.exit()).toBeNull();
    expect(await readTerminal(world, terminal)).toMatchObject({ status: 'exited', exit_code: null });
  });

  it('is closed with its shell and its job, without waiting for them', async () => {
    const terminal = await openTerminal(world, sessionId, { shell: '/bin/bash' });
    const viewed = viewTerminal(await world.watch(sessionId), terminal);
    await viewed.send('attach');
    await viewed.send('input', { data: `trap '' HUP; echo shell $$.; sh -c 'trap "" HUP; echo job $$.; sleep 60'\n` });
    await viewed.until(/job \d+\./);
    const pids = [/shell (\d+)\./, /job (\d+)\./].map((pattern) => Number(pattern.exec(viewed.text())?.[1]));
    expect(pids.every(processAlive)).toBe(true);
    const path = `/sessions/${sessionId}/terminals/${terminal.id}`;
    expect(await world.ok('POST', `${path}:close`)).toEqual({ closed: true });
    const closed = await readTerminal(world, terminal);
    expect(closed).toMatchObject({ status: 'exited', exit_code: null, exited_at: expect.any(String) });
    expect(await viewed.exit()).toBeNull();
    expect(await world.ok('POST', `${path}:close`, { ignored: true })).toEqual({ closed: true });
    expect(await readTerminal(world, terminal)).toEqual(closed);
    // Both ignore SIGHUP, so they are killed.
    await expect.poll(() => pids.filter(processAlive)).toEqual([]);
  });

  it('has its own errors, in a fixed order', async () => {
    const path = `/sessions/${sessionId}/terminals/term_x`;
    const missing = { code: 40414, msg: `terminal term_x does not exist in session ${sessionId}` };
    expect(await world.api('GET', path)).toMatchObject(missing);
    expect(await world.api('POST', `${path}:close`)).toMatchObject(missing);
    expect(await world.api('GET', '/sessions/session_none/terminals')).toMatchObject({ code: 40401 });
    expect(await world.api('GET', '/sessions/session_none/terminals/x')).toMatchObject({ code: 40401 });
    expect(await world.api('POST', '/sessions/session_none/terminals/x:close')).toMatchObject({ code: 40401 });
    expect(await world.api('POST', '/sessions/session_none/terminals/x:open')).toMatchObject({
      code: 40001,
      details: [{ path: 'terminal_id', message: 'unsupported action: x:open' }],
    });
  });

  it('ends with the archiving of its session and is removed', async () => {
    const { id } = await world.session();
    const terminal = await openTerminal(world, id);
    const viewed = viewTerminal(await world.watch(id), terminal);
    await viewed.send('attach');
    await viewed.send('input', { data: 'echo pid $$.\n' });
    await viewed.until(/pid \d+\./);
    const pid = Number(/pid (\d+)\./.exec(viewed.text())?.[1]);
    await world.ok('POST', `/sessions/${id}:archive`);
    expect(processAlive(pid)).toBe(false);
    expect(await viewed.exit()).toBeNull();
    expect(await list(id)).toEqual([]);
    expect(await viewed.send('attach')).toMatchObject({ code: 40414 });
  });
});

describe('on a bind that other machines can reach', () => {
  const withServer = async (
    options: TestServerOptions,
    work: (server: Awaited<ReturnType<typeof startServer>>) => unknown,
  ) => {
    const server = await startServer({ host: '0.0.0.0', ...options });
    try {
      await work(server);
    } finally {
      await server.close();
    }
  };

  it('there are none', () =>
    withServer({}, async (server) => {
      const { data } = await server.api('POST', '/sessions', { metadata: { cwd: world.project } });
      const { id } = z.object({ id: z.string() }).parse(data);
      for (const session of [id, 'session_none']) {
        for (const [method, path] of [
          ['GET', 'terminals'],
          ['POST', 'terminals'],
          ['GET', 'terminals/x'],
          ['POST', 'terminals/x:close'],
        ] as const) {
          expect(
            await server.api(method, `/sessions/${session}/${path}`, method === 'POST' ? {} : undefined),
          ).toMatchObject({
            status: 404,
            code: 40400,
          });
        }
      }
    }));

  it('there are some when allowed', () =>
    withServer({ allowRemoteTerminals: true }, async (server) => {
      const { data } = await server.api('POST', '/sessions', { metadata: { cwd: world.project } });
      const { id } = z.object({ id: z.string() }).parse(data);
      expect(await server.api('POST', `/sessions/${id}/terminals`, {})).toMatchObject({ code: 0 });
    }));
});
