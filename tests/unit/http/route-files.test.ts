/** Rules for the names of the files in `routes/`. */
import { expect, it } from 'vitest';
import * as z from 'zod';
import endpoints from '#endpoints';

/** Parameters by their preceding path: `/api/v1/sessions/` has `session_id`. */
const names = new Map<string, Set<string>>();
for (const { route } of endpoints) {
  const segments = route.split('/');
  for (const [index, segment] of segments.entries()) {
    if (!segment.startsWith(':')) continue;
    const parent = segments
      .slice(0, index)
      .map((part) => (part.startsWith(':') ? ':' : part))
      .join('/');
    names.set(parent, (names.get(parent) ?? new Set()).add(segment.slice(1)));
  }
}
const parents = [...names].map(([parent, set]) => ({ parent, ids: [...set] }));

it.each(parents)('siblings under $parent name their parameter alike: $ids', ({ ids }) => {
  expect(ids).toHaveLength(1);
});

it('a collection of sessions has session_id in any path', () => {
  const sessions = parents.filter(({ parent }) => parent.endsWith('/sessions'));
  expect(sessions.length).toBeGreaterThan(0);
  for (const { ids } of sessions) expect(ids).toEqual(['session_id']);
});

it('has no route twice', () => {
  const all = endpoints.map(({ method, route }) => `${method} ${route.replaceAll(/:[^/]+/g, ':')}`);
  expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([]);
});

it('declares the parameters of the file name, in the same order', async () => {
  for (const { method, route, load } of endpoints) {
    const { default: endpoint } = await load();
    const own = [...route.matchAll(/:([^/]+)/g)].map(([, name]) => name);
    const { params } = endpoint.definition;
    const shape = params && 'shape' in params ? Object.keys(params.shape as object) : [];
    expect([method, route, shape]).toEqual([method, route, own]);
  }
});

/** Paths of arrays without a maximum in a JSON Schema. */
function unbounded(schema: unknown, path = ''): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = 'type' in schema && schema.type === 'array' && !('maxItems' in schema) ? [path] : [];
  return [...own, ...Object.entries(schema).flatMap(([key, value]) => unbounded(value, `${path}/${key}`))];
}

it('accepts no array without a maximum from a client', async () => {
  for (const { method, route, load } of endpoints) {
    const { body, query } = (await load()).default.definition;
    for (const schema of [body, query]) {
      const shape = schema && z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
      expect([method, route, unbounded(shape)]).toEqual([method, route, []]);
    }
  }
});

it('describes each tag in exactly one endpoint', async () => {
  const described = new Map<string, string[]>();
  for (const { load } of endpoints) {
    const { tag, tagDescription } = (await load()).default.definition;
    if (tag === undefined) expect(tagDescription).toBeUndefined();
    else described.set(tag, [...(described.get(tag) ?? []), ...(tagDescription === undefined ? [] : [tagDescription])]);
  }
  expect([...described].filter(([, descriptions]) => descriptions.length !== 1)).toEqual([]);
});
