/** `fs:open`, `fs:open-in` and `fs:reveal` with the test's programs on PATH. */
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startFilesSession, type FilesSession } from '#support/files-session.ts';
import { eventually } from '#support/patience.ts';

let session: FilesSession;
let root: string;
let env: NodeJS.ProcessEnv = {};
let told: string;
let round = 0;
beforeAll(async () => {
  session = await startFilesSession({ env: () => env });
  ({ root } = session);
  await mkdir(join(root, 'src'));
  await writeFile(join(root, "src/it's.ts"), '');
  await symlink(session.outside, join(root, 'out'));
});
afterAll(() => session.close());

/** Installs programs that record their arguments. */
beforeEach(async () => {
  const bin = join(session.outside, `bin-${++round}`);
  told = join(session.outside, `told-${round}`);
  await mkdir(bin);
  for (const name of ['xdg-open', 'code', 'editor']) {
    await writeFile(
      join(bin, name),
      `#!/bin/sh\nprintf '%s\\n' "\${0##*/}" "$@" > ${told}.new\nmv ${told}.new ${told}\n`,
    );
    await chmod(join(bin, name), 0o755);
  }
  env = { PATH: `${bin}:/bin:/usr/bin` };
});

const started = () => eventually(async () => (await readFile(told, 'utf8')).trimEnd().split('\n'));

it.runIf(process.platform === 'linux')("starts the system's program", async () => {
  expect(await session.fs('open', { path: 'src' })).toMatchObject({ code: 0, data: { opened: true } });
  expect(await started()).toEqual(['xdg-open', join(root, 'src')]);
});

it.runIf(process.platform === 'linux')('reveals in the parent directory', async () => {
  expect(await session.fs('reveal', { path: "src/it's.ts" })).toMatchObject({ code: 0, data: { revealed: true } });
  expect(await started()).toEqual(['xdg-open', join(root, 'src')]);
});

it('passes the path through the shell of the editor setting unchanged', async () => {
  env.EDITOR = 'editor --flag';
  expect(await session.fs('open', { path: "src/it's.ts", line: 3 })).toMatchObject({ code: 0 });
  expect(await started()).toEqual(['editor', '--flag', join(root, "src/it's.ts")]);
});

it('opens in an installed editor', async () => {
  const body = { path: "src/it's.ts", line: 3 };
  expect(await session.fs('open-in', { app_id: 'vscode', ...body })).toMatchObject({ code: 0, data: { opened: true } });
  expect(await started()).toEqual(['code', '-g', `${join(root, "src/it's.ts")}:3`]);
  expect(await session.fs('open-in', { app_id: 'cursor', ...body })).toMatchObject({
    code: 50001,
    msg: 'failed to open in cursor: cursor is not on PATH',
  });
});

it('reports a program that cannot be started', async () => {
  env.PATH = session.outside;
  expect(await session.fs('reveal', { path: 'src' })).toMatchObject({ code: 50001 });
});

it('checks fields, then the path, before it starts a program', async () => {
  expect(await session.fs('open-in', { app_id: 'emacs', path: 'out' })).toMatchObject({
    code: 40001,
    details: [{ path: 'app_id' }],
  });
  expect(await session.fs('open', { path: 'src', line: 0 })).toMatchObject({ code: 40001 });
  for (const [action, more] of [['open'], ['reveal'], ['open-in', { app_id: 'vscode' }]] as const) {
    expect(await session.fs(action, { path: 'out', ...more })).toMatchObject({ code: 41304 });
    expect(await session.fs(action, { path: 'missing', ...more })).toMatchObject({ code: 40409 });
  }
  await expect(readFile(told)).rejects.toThrow('ENOENT');
});
