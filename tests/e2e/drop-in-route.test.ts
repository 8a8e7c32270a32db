/** A file dropped into `routes/` is served, validated and documented; nothing else is edited. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { copyProject, type ProjectCopy } from '#support/project-copy.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';

const dropped = `
import * as z from 'zod';
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

let project: ProjectCopy;
let server: SpawnedServer;
beforeAll(async () => {
  project = await copyProject();
  await project.write('routes/api/v1/people/[name]/actions/greet.post.ts', dropped);
  const { code, output } = await project.build();
  if (code !== 0) throw new Error(`the build failed:\n${output}`);
  server = await spawnServer({ entry: project.entry });
});
afterAll(async () => {
  await server?.close();
  await project.remove();
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
