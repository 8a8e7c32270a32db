/**
 * The packed client, installed in an empty project: its types, and the examples of its README in Node and in a browser.
 */
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build, transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser, openPage } from '#support/browser.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { eventually } from '#support/patience.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'clients/typescript');
const run = promisify(execFile);
/** A variable of the running test would change the programs. */
const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };

const built = useBuiltServer(undefined, { per: 'file' });
let project: string;
/** The examples of the README, in its order. */
let examples: string[];

const npm = (directory: string, ...args: string[]) => run('npm', args, { cwd: directory, env });
const installed = () => join(project, 'node_modules/@service-code/client');

beforeAll(async () => {
  project = await temporaryDirectory();
  await npm(folder, 'pack', '--silent', '--pack-destination', project);
  await npm(project, 'pack', '--silent', '--ignore-scripts', join(root, 'node_modules/ulid'));
  const archives = (await readdir(project)).filter((name) => name.endsWith('.tgz')).map((name) => `./${name}`);
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await npm(project, 'install', '--offline', '--no-audit', '--no-fund', '--silent', ...archives);
  await mkdir(join(project, 'node_modules/@types'));
  for (const name of ['ws', 'undici', '@types/ws', '@types/node']) {
    await symlink(join(root, 'node_modules', name), join(project, 'node_modules', name));
  }
  const readme = await readFile(join(folder, 'README.md'), 'utf8');
  examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
  for (const [index, code] of examples.entries()) await writeFile(join(project, `example-${index}.ts`), code);
});
afterAll(() => rm(project, { recursive: true, force: true }));

/** Runs an example in the project of the server; resolves with its output. */
async function output(code = ''): Promise<string> {
  const script = await transform(code, { loader: 'ts', format: 'esm' });
  const path = join(project, 'example.mjs');
  await writeFile(path, script.code);
  const { url, token } = built.server;
  const variables = { SERVICE_URL: `${url}/`, SERVICE_TOKEN: token };
  const { stdout } = await run(process.execPath, [path], { cwd: built.base.project, env: { ...env, ...variables } });
  return stdout;
}

it('has one dependency, and contains no schema and no file of the server', async () => {
  const files = await readdir(installed(), { recursive: true });
  const sources = files.filter((name) => name.startsWith('dist/') && /\.(js|ts)$/.test(name));
  expect(sources).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'dist/text.js']));
  expect(files.filter((name) => name.startsWith('src'))).toEqual([]);
  const imported = new Set<string>();
  for (const name of sources) {
    const text = await readFile(join(installed(), name), 'utf8');
    for (const [, specifier = ''] of text.matchAll(/(?:\bfrom|\bimport\(?) ?["']([^"'\n]+)["']/g))
      imported.add(specifier);
  }
  expect([...imported].filter((specifier) => !/^\.\/[\w/-]+\.js$/.test(specifier))).toEqual(['ulid']);
});

it('type-checks under `strict`, without a DOM', async () => {
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    target: 'es2023',
    lib: ['es2023'],
    module: 'nodenext',
    types: ['node'],
    noEmit: true,
  };
  const wrong = [
    `import { createRest } from '@service-code/client';`,
    `const { request } = createRest({ baseUrl: '', token: () => undefined });`,
    `const path = { session_id: 's' };`,
    `// @ts-expect-error: there is no such operation`,
    `await request('GET /api/v1/nothing');`,
    `// @ts-expect-error: a parameter of the path is missing`,
    `await request('GET /api/v1/sessions/{session_id}');`,
    `// @ts-expect-error: the body is wrong`,
    `await request('POST /api/v1/sessions/{session_id}/prompts', { path, body: { content: 'text' } });`,
    `// @ts-expect-error: the reply has no such member`,
    `(await request('GET /api/v1/sessions/{session_id}', { path })).name;`,
  ];
  await writeFile(join(project, 'wrong.ts'), wrong.join('\n'));
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project], { env });
});

describe('the examples', () => {
  it.each([
    ['ws', `import WebSocket from 'ws';`],
    ['undici', `import { WebSocket } from 'undici';`],
  ])('run a turn with the socket of %s', async (name, line) => {
    const text = `This is a project for ${name}.`;
    built.base.model.enqueue({ text });
    expect(await output(examples[0]?.replace(/^import .* from 'ws';$/m, line))).toBe(`${text}\n`);
  });

  it('call operations, and display why one was refused', async () => {
    const id = await built.newSession();
    const lines = (await output(examples[1])).trim().split('\n');
    expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^${id} idle`)));
    expect(lines.at(-1)).toMatch(/^refused with 40911: .+ \(request \w+\)$/);
  });

  it('answer an approval', async () => {
    const printed = output(examples[2]);
    await eventually(async () => expect(await built.ok('GET', '/connections')).toMatchObject({ connections: [{}] }));
    built.base.model.enqueue({ calls: [{ name: 'Bash', args: { command: 'npm test' } }] });
    built.base.model.enqueue({ text: 'Tested.' });
    const id = await built.newSession();
    await built.prompt(id, 'test it');
    expect(await printed).toBe('approved: npm test\n');
    await eventually(async () => expect(await built.ok('GET', `/sessions/${id}`)).toMatchObject({ busy: false }));
  });
});

it('has examples that send a file and watch all sessions', async () => {
  expect(examples).toHaveLength(5);
  built.base.model.enqueue({ text: 'A note.' });
  const [id = '', status] = (await output(examples[3]?.replace("'package.json'", `'${join(folder, 'package.json')}'`)))
    .trim()
    .split(' ');
  expect(status).toBe('running');
  await eventually(async () => expect(await built.ok('GET', `/sessions/${id}`)).toMatchObject({ busy: false }));
  expect(JSON.stringify(built.base.model.requests.at(-1)?.body)).toContain('package.json');

  const printed = output(examples[4]);
  await eventually(async () => expect(await built.ok('GET', '/connections')).toMatchObject({ connections: [{}] }));
  built.base.model.enqueue({ text: 'Done.' });
  const watched = await built.newSession();
  await built.prompt(watched, 'go');
  expect(await printed).toBe(`created ${watched}\nidle ${watched} completed\n`);
});

it('is ready to be published', async () => {
  const { stderr, stdout } = await npm(folder, 'publish', '--dry-run', '--ignore-scripts');
  expect(stdout + stderr).toContain('+ @service-code/client@');
  expect(await readdir(installed())).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'dist', 'package.json']));
});

it('runs a turn in a browser', async () => {
  const { url, token } = built.server;
  const variables = { SERVICE_URL: `${url}/`, SERVICE_TOKEN: token };
  const socket = join(project, 'socket.js');
  await writeFile(socket, 'export default WebSocket;');
  const { outputFiles } = await build({
    entryPoints: [join(project, 'example-0.ts')],
    bundle: true,
    platform: 'browser',
    format: 'esm',
    write: false,
    alias: { ws: socket },
    banner: {
      js: `const process = { env: ${JSON.stringify(variables)}, cwd: () => ${JSON.stringify(built.base.project)} };`,
    },
  });
  const browser = await launchBrowser();
  try {
    const { page, errors } = await openPage(browser, built.server);
    const printed: string[] = [];
    page.on('console', (message) => printed.push(message.text()));
    built.base.model.enqueue({ text: 'This is a project for a browser.' });
    await page.evaluate(`(async () => { ${outputFiles[0]?.text} })()`);
    await eventually(() => expect(printed).toContain('This is a project for a browser.'));
    expect(errors).toEqual([]);
  } finally {
    await browser.close();
  }
});
