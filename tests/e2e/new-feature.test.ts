/**
 * The cost of a feature, as `docs/adding.md` counts it: a note pad with endpoints, an event, a tool and a card of the
 * page (`tests/exercises/note-pad/`) is added to a copy of the tree, which must compile and pass the feature's tests.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { temporaryDirectory } from '#support/temporary-directory.ts';

const root = resolve(import.meta.dirname, '../..');
const exercise = join(root, 'tests/exercises/note-pad');
/** Not part of the sources. */
const OMITTED = ['.git', '.nitro', '.output', 'node_modules', 'web/dist', 'clients/typescript/dist'];

/** Inserts the line `add` after the only line that equals `after`. */
const editsSchema = z.array(z.strictObject({ file: z.string(), after: z.string(), add: z.string() }));
type Edit = z.infer<typeof editsSchema>[number];

/** The compilers take minutes of a busy machine. */
const TIMEOUT_MS = 1_200_000;

let project: string;
let edits: Edit[];
let newFiles: string[];

async function apply({ file, after, add }: Edit): Promise<void> {
  const path = join(project, file);
  const lines = (await readFile(path, 'utf8')).split('\n');
  const found = lines.flatMap((line, index) => (line === after ? index : []));
  if (found.length !== 1) throw new Error(`${file} has ${found.length} lines "${after}"`);
  await writeFile(path, lines.toSpliced((found[0] ?? 0) + 1, 0, add).join('\n'));
}

beforeAll(async () => {
  project = await temporaryDirectory();
  const isSource = (path: string) => !OMITTED.includes(relative(root, path));
  await cp(root, project, { recursive: true, filter: isSource });
  await linkPackages();
  const files = join(exercise, 'files');
  const entries = await readdir(files, { recursive: true, withFileTypes: true });
  newFiles = entries.flatMap((entry) => (entry.isFile() ? relative(files, join(entry.parentPath, entry.name)) : []));
  await cp(files, project, { recursive: true, force: false, errorOnExist: true });
  edits = editsSchema.parse(JSON.parse(await readFile(join(exercise, 'edits.json'), 'utf8')));
  for (const edit of edits) await apply(edit);
  // What `npm run client:types` runs.
  await run('node_modules/vitest/vitest.mjs', 'run', '--cache=false', 'tests/api/documents.test.ts', '-u');
  await run('clients/typescript/generate.mjs');
}, TIMEOUT_MS);
afterAll(() => rm(project, { recursive: true, force: true }));

/** Links the packages of the tree, and the client of the copy. */
async function linkPackages(): Promise<void> {
  const packages = join(project, 'node_modules');
  await mkdir(join(packages, '@service-code'), { recursive: true });
  for (const name of await readdir(join(root, 'node_modules'))) {
    if (name !== '@service-code') await symlink(join(root, 'node_modules', name), join(packages, name));
  }
  await symlink(join(project, 'clients/typescript'), join(packages, '@service-code/client'));
}

const testsOf = (files: readonly string[]) => files.filter((file) => file.startsWith('tests/'));

/** Runs a program in the copy. Rejects with its output when it fails. */
async function run(script: string, ...args: string[]): Promise<void> {
  // Variables of the running test would make the programs behave differently.
  const isOfTest = (name: string) => /^(VITEST|TEST$|NODE_ENV$|SERVICE_CODE_)/.test(name);
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOfTest(name)));
  const child = spawn(process.execPath, [script, ...args], { cwd: project, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${script} ${args.join(' ')}\n${output}`);
}

it('has at most 12 new files and touches 5', () => {
  expect(newFiles.length - testsOf(newFiles).length).toBeLessThanOrEqual(12);
  expect([...new Set(edits.map(({ file }) => file))].toSorted()).toEqual([
    'server/agent/profiles/built-in.ts',
    'server/features/features.ts',
    'server/journal/record-types.ts',
    'server/schema/events/durable.ts',
    'web/features/index.ts',
  ]);
});

it('compiles on the server', { timeout: TIMEOUT_MS }, async () => {
  // Without the tests of other features, which would double the time.
  const include = ['*.ts', 'build', 'plugins', 'routes', 'server', 'types', 'utils', ...testsOf(newFiles)];
  await writeFile(join(project, 'tsconfig.sources.json'), JSON.stringify({ extends: './tsconfig.json', include }));
  // The caches of the tree are in its `node_modules`, which the copy shares.
  await run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.sources.json', '--tsBuildInfoFile', 'types.tsbuildinfo');
});

it('compiles on the page', { timeout: TIMEOUT_MS }, async () => {
  await run(
    'node_modules/vue-tsc/bin/vue-tsc.js',
    '-p',
    'web/tsconfig.json',
    '--tsBuildInfoFile',
    'page-types.tsbuildinfo',
  );
});

it('passes its own tests, of the server, of the documents and of the page', { timeout: TIMEOUT_MS }, async () => {
  await run('node_modules/vite/bin/vite.js', 'build', 'web', '--logLevel', 'warn');
  await run('node_modules/vitest/vitest.mjs', 'run', '--cache=false', ...testsOf(newFiles));
});
