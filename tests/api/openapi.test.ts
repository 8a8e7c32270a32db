import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import endpoints from '#endpoints';
import { publicPath } from '#utils/http/route-table.ts';
import { startServer } from '#support/server.ts';
import type { TestServer } from '#support/server.ts';

const documentShape = z.looseObject({
  openapi: z.literal('3.1.0'),
  info: z.object({ title: z.literal('Service Code Server API'), version: z.string(), description: z.string() }),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.looseObject({
        tags: z.array(z.string()).length(1),
        summary: z.string().regex(/^[^\n]+$/),
        operationId: z.string().optional(),
        responses: z.record(z.string(), z.looseObject({ description: z.string() })),
      }),
    ),
  ),
});

let server: TestServer;
beforeAll(async () => (server = await startServer()));
afterAll(() => server.close());

it('is valid and complete, without the members that clients must not see', async () => {
  const response = await server.fetch('/openapi.json');
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const text = await response.text();
  const validation = await new Validator().validate(JSON.parse(text));
  expect(validation.errors).toBeUndefined();
  expect(validation.valid).toBe(true);
  // As members of the document, whose values are lists; a reply may have a member with such a name.
  expect(text).not.toMatch(/"(servers|security)":\[|"(deprecated|x-[^"]*)":/);

  const document = documentShape.parse(JSON.parse(text));
  const listed = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method} ${path}`),
  );
  const mounted = endpoints.filter(({ route }) => !route.startsWith('/api/v1/debug/'));
  const served = mounted.map(
    ({ method, route }) => `${method} ${publicPath(route.replaceAll(/(?:\*\*)?:([^/]+)/g, '{$1}'))}`,
  );
  expect(listed.toSorted()).toEqual(served.toSorted());

  const declared = new Set(document.tags.map(({ name }) => name));
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  for (const { tags } of operations) expect(declared).toContain(tags[0]);
  const ids = operations.flatMap(({ operationId }) => operationId ?? []);
  expect(new Set(ids).size).toBe(ids.length);
});

it('requires the token, and answers HEAD', async () => {
  expect((await server.fetch('/openapi.json', { headers: { authorization: 'Bearer no' } })).status).toBe(401);
  expect((await server.fetch('/openapi.json', { method: 'HEAD' })).status).toBe(200);
});
