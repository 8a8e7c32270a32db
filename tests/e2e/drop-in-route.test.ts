/** A file dropped into `routes/` is served, validated and documented; nothing else is edited. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { spawnServer, temporaryDirectory } from '#support/server.ts';
import type { SpawnedServer } from '#support/server.ts';

const root = resolve(import.meta.dirname, '../..');
const SOURCES = [
  'bin',
  'build',
  'entry.ts',
  'nitro.config.ts',
  'package.json',
  'plugins',
  'routes',
  'server',
  'tsconfig.json',
  'utils',
];

const dropped = `
import { z } from 'zod';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Greet somebody',
  tag: 'meta',
  operationId: 'greet',
  params: pathParams('name'),
  body: z.object({ loud: z.boolean() }),
  data: z.object({ greeting: z.string() }),
  handler: ({ params, body }) => ({ greeting: body.loud ? params.name.toUpperCase() : params.name }),
});
`;

let project: string;
let server: SpawnedServer;
beforeAll(async () => {
  project = await temporaryDirectory();
  for (const name of SOURCES) await cp(join(root, name), join(project, name), { recursive: true });
  await symlink(join(root, 'node_modules'), join(project, 'node_modules'));
  const folder = join(project, 'routes/api/v1/people/[name]/actions');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'greet.post.ts'), dropped);
  const nitro = spawn(process.execPath, [join(root, 'node_modules/nitropack/dist/cli/index.mjs'), 'build'], {
    cwd: project,
  });
  let printed = '';
  for (const stream of [nitro.stdout, nitro.stderr]) stream.on('data', (text: Buffer) => (printed += text.toString()));
  const [code] = await once(nitro, 'close');
  if (code !== 0) throw new Error(`the build failed:\n${printed}`);
  server = await spawnServer({ entry: join(project, '.output/server/index.mjs') });
});
afterAll(async () => {
  await server?.close();
  await rm(project, { recursive: true, force: true });
});

it('serves, validates and documents it', async () => {
  expect(await server.api('POST', '/people/ann:greet', { loud: true })).toMatchObject({
    code: 0,
    data: { greeting: 'ANN' },
  });
  expect(await server.api('POST', '/people/ann:greet', {})).toMatchObject({ code: 40001, details: [{ path: 'loud' }] });
  expect(await server.api('POST', '/people/ann:leave', {})).toMatchObject({ msg: 'unsupported action: ann:leave' });
  const document: unknown = await (await server.fetch('/openapi.json')).json();
  expect(document).toMatchObject({
    paths: { '/api/v1/people/{name}:greet': { post: { operationId: 'greet', requestBody: { required: true } } } },
  });
});
