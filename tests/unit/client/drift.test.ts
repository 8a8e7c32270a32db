/** The served documents, the types of both clients, and the route files describe the same operations, events and frames. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import endpoints from '#endpoints';

const at = (path: string) => resolve(import.meta.dirname, '../../..', path);
const text = (path: string) => readFile(at(path), 'utf8');
const golden = async (name: string): Promise<unknown> => JSON.parse(await text(`tests/api/golden/${name}.json`));

const openapiSchema = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });
const asyncapiSchema = z.object({
  components: z.object({ schemas: z.record(z.string(), z.unknown()), messages: z.record(z.string(), z.unknown()) }),
});

async function operations(): Promise<{ method: string; path: string }[]> {
  const { paths } = openapiSchema.parse(await golden('openapi'));
  return Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => ({ method, path })));
}

/** The part of a generated file that describes a path. */
const partOf = (source: string, path: string) => {
  const start = source.indexOf(`    "${path}": {`);
  return start === -1 ? '' : source.slice(start, source.indexOf('\n    };', start));
};

it('each operation is typed in the TypeScript client and a function of the Python client', async () => {
  const [typescript, python, all] = [
    await text('clients/typescript/src/generated/openapi.ts'),
    await text('clients/python/service_code/operations.py'),
    await operations(),
  ];
  expect(all.length).toBeGreaterThan(140);
  const missing = all.flatMap(({ method, path }) => {
    const target = path.replaceAll(/\{(\w+)\}/g, '{quote($1)}');
    const isTyped = new RegExp(`\\n        ${method}: (operations\\[|\\{)`).test(partOf(typescript, path));
    const isCalled = python.includes(`"${method.toUpperCase()}", f"${target}"`);
    return [
      ...(isTyped ? [] : `${method} ${path} is missing in TypeScript`),
      ...(isCalled ? [] : `${method} ${path} is missing in Python`),
    ];
  });
  expect(missing).toEqual([]);
});

it('the document has as many operations as there are route files', async () => {
  const documented = new Set((await operations()).map(({ method, path }) => `${method} ${path}`));
  // The endpoints for development are mounted with an option alone.
  expect(documented.size).toBe(endpoints.filter(({ route }) => !route.includes('/debug/')).length);
});

it('each event and frame has a type', async () => {
  const typescript = await text('clients/typescript/src/generated/asyncapi.ts');
  const { schemas, messages } = asyncapiSchema.parse(await golden('asyncapi')).components;
  const names = [...Object.keys(schemas), ...Object.keys(messages)];
  expect(names.length).toBeGreaterThan(20);
  const missing = names.filter(
    (name) => !new RegExp(`\\n        "?${name.replaceAll('.', '\\.')}"?: `).test(typescript),
  );
  expect(missing).toEqual([]);
});
