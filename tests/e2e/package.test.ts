/** The npm package: made from the build, installed in an empty folder, used there. Build first. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { spawnServer } from '#support/spawned-server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';

const execute = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');
const MOST_BYTES = 12_000_000;

let folder: string;
let project: string;
const home = () => join(folder, 'home');
const command = () => join(folder, 'node_modules', 'service-code', 'bin', 'service-code.cjs');

beforeAll(async () => {
  folder = await temporaryDirectory();
  project = join(folder, 'project');
  await mkdir(project);
  await writeFile(join(project, 'a.txt'), 'a needle\n');
  const { stdout } = await execute('node', ['build/package.mjs'], { cwd: ROOT });
  const [, archive = ''] = /^(\.release\/\S+\.tgz): /.exec(stdout) ?? [];
  await writeFile(join(folder, 'package.json'), '{"name":"empty","version":"1.0.0","private":true}');
  await execute('npm', ['install', '--no-audit', '--no-fund', '--no-save', join(ROOT, archive)], { cwd: folder });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('has no native files, source maps and tests, and is small', async () => {
  const { stdout } = await execute('npm', ['pack', '--dry-run', '--json'], { cwd: join(ROOT, '.release', 'package') });
  const schema = z.tuple([z.object({ size: z.number(), files: z.array(z.object({ path: z.string() })) })]);
  const [{ size, files }] = schema.parse(JSON.parse(stdout));
  const paths = files.map(({ path }) => path);
  expect(paths).toContain('bin/service-code.cjs');
  expect(paths).toContain('.output/public/index.html');
  expect(paths.filter((path) => /\.(map|node|so|dylib|dll|exe)$|\.test\.|node_modules/.test(path))).toEqual([]);
  expect(size).toBeLessThan(MOST_BYTES);
});

it('has a list of its components', async () => {
  const schema = z.object({ bomFormat: z.literal('CycloneDX'), components: z.array(z.object({ name: z.string() })) });
  const { components } = schema.parse(JSON.parse(await readFile(join(ROOT, '.release', 'sbom.cdx.json'), 'utf8')));
  const names = components.map(({ name }) => name);
  for (const name of ['libsql', 'sharp', 'undici', 'vue', 'zod']) expect(names).toContain(name);
});

it('serves the page, and its native parts work', async () => {
  const server = await spawnServer({ home: home(), entry: command(), args: ['--demo'], cwd: project });
  onTestFinished(server.close);
  const page = await fetch(`${server.url}/`);
  expect(await page.text()).toContain('<div id="app">');
  const { data } = await server.api('POST', '/sessions', { metadata: { cwd: project } });
  const { id } = z.object({ id: z.string() }).parse(data);
  const found = await server.api('POST', `/sessions/${id}/fs:grep`, { pattern: 'needle' });
  expect(JSON.stringify(found)).toContain('a.txt');
  expect(await server.api('POST', `/sessions/${id}/terminals`, {})).toMatchObject({ code: 0 });
});

it('runs a prompt, and speaks with an editor', async () => {
  const options = { cwd: project, env: { ...process.env, SERVICE_CODE_HOME: home() } };
  const { stdout } = await execute(process.execPath, [command(), 'run', '--demo', 'hello'], options);
  expect(stdout).toContain('demo model');
  const editor = execute(process.execPath, [command(), 'acp', '--demo'], options);
  editor.child.stdin?.end(
    `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {} } })}\n`,
  );
  expect((await editor).stdout).toContain('"loadSession":true');
});
