import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { createLogger } from '#server/logging/log.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { loadPty } from '#server/terminals/pty.ts';
import { userShell } from '#server/terminals/shell.ts';
import { createTerminals } from '#server/terminals/terminals.ts';
import { createTerminalSchema } from '#schema/rest/terminal.ts';

const runtime = createLocalRuntime();
const log = createLogger('silent');
const session = { id: 's1', workspaceId: 'wd_x', cwd: tmpdir(), additionalDirs: () => Promise.resolve([]) };
const request = (body: object) => createTerminalSchema.parse(body);

it('are unavailable where the library has no binary, which is loaded a single time', async () => {
  let loads = 0;
  const terminals = createTerminals({
    runtime,
    log,
    loadPty: async () => {
      loads += 1;
      throw new Error('no such platform');
    },
  });
  for (const call of [
    () => terminals.create(session, request({ cwd: '..' })),
    () => terminals.list('s1'),
    () => terminals.get('s1', 'term_x'),
    () => terminals.close('s1', 'term_x'),
  ]) {
    await expect(call()).rejects.toMatchObject({ name: 'runtime.unavailable', code: 40926 });
  }
  expect(terminals.find('s1', 'term_x')).toBeUndefined();
  expect(loads).toBe(1);
  // The runtime is validated first.
  await expect(terminals.create(session, request({ runtime_id: 'x' }))).rejects.toMatchObject({ code: 40420 });
});

it('keep their session loaded while they run, and are removed with it', async () => {
  const terminals = createTerminals({ runtime, log, loadPty });
  const { id } = await terminals.create(session, request({ shell: '/bin/cat' }));
  expect(terminals.holds('s1')).toBe(true);
  expect(terminals.holds('s2')).toBe(false);
  await terminals.close('s1', id);
  expect(terminals.holds('s1')).toBe(false);
  expect(await terminals.get('s1', id)).toMatchObject({ status: 'exited', exit_code: null });
  await terminals.create(session, request({ shell: '/bin/cat' }));
  await terminals.release('s1');
  expect(terminals.holds('s1')).toBe(false);
  expect(await terminals.list('s1')).toEqual([]);
});

it('start the shell of the environment, else of the login, else an installed one', async () => {
  const shellOf = (SHELL?: string) => userShell(createLocalRuntime({ env: () => ({ PATH: '/bin', SHELL }) }));
  expect(await shellOf('/bin/zsh')).toBe('/bin/zsh');
  expect(await shellOf()).toMatch(/^\//);
  expect(await shellOf('')).toBe(await shellOf());
});
