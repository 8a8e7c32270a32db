/**
 * Fuzz target: a patch of the configuration merges recursively, null removes, and all other members are unchanged; the
 * edited text represents exactly the merged document, and untouched lines keep their comments.
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { stringify } from 'smol-toml';
import { configPatchSchema } from '#schema/rest/config-patch.ts';
import { editToml } from '#server/config/document-edit.ts';
import { parseToml, toTable } from '#server/config/document.ts';
import { patchDocument } from '#server/config/patch.ts';

type Members = Record<string, unknown>;

/** Names of records; the schema of patches drops `__proto__`, so only files contain it. */
const NAMES = ['acme', 'acme/large', 'a.b', 'with space', 'constructor', 'é', '"quoted"', '0'];
const TEXTS = ['', 'x', 'https://h/v1', 'a "b"', "it's", '\\n', 'line\nline', '😀', '# no comment', '[x]'];

const texts = fc.constantFrom(...TEXTS);
const someOf = (members: Record<string, Arbitrary<unknown>>) => fc.record(members, { requiredKeys: [] });

/** Documents of which each member passes `orNull`, except the sections. */
function documents(names: readonly string[], orNull: (member: Arbitrary<unknown>) => Arbitrary<unknown>) {
  const name = fc.constantFrom(...names);
  const record = (members: Record<string, Arbitrary<unknown>>) =>
    orNull(someOf(Object.fromEntries(Object.entries(members).map(([key, member]) => [key, orNull(member)]))));
  const section = (members: Record<string, Arbitrary<unknown>>) => fc.dictionary(name, record(members), { maxKeys: 4 });
  return someOf({
    default_model: orNull(texts),
    providers: section({
      type: fc.constantFrom('openai', 'anthropic', 'x'),
      base_url: texts,
      api_key: texts,
      custom_headers: fc.dictionary(name, orNull(texts), { maxKeys: 1 }),
    }),
    models: section({
      provider: name,
      model: texts.map((text) => text || 'm'),
      max_context_size: fc.integer({ min: 1, max: 1_000_000 }),
      capabilities: fc.subarray(['tool_use']),
    }),
  });
}

const files = documents(['__proto__', ...NAMES], (member) => member);
/** Parts of other documents, with removals. */
const patches = documents(NAMES, (member) => fc.option(member, { freq: 6 }));

function object(entries: Iterable<readonly [string, unknown]>): Members {
  const made: Members = Object.create(null);
  for (const [key, value] of entries) made[key] = value;
  return made;
}

/** The documented rule, implemented independently of the code under test. */
function merged(before: unknown, patch: unknown): unknown {
  if (patch === null) return undefined;
  if (typeof patch !== 'object' || Array.isArray(patch)) return patch;
  const entries = Object.entries(patch);
  if (entries.length === 0) return before;
  const isObject = typeof before === 'object' && before !== null && !Array.isArray(before);
  const result = new Map<string, unknown>(isObject ? Object.entries(before) : []);
  for (const [key, value] of entries) {
    const next = merged(result.get(key), value);
    if (next === undefined) result.delete(key);
    else result.set(key, next);
  }
  return result.size > 0 ? object(result) : undefined;
}

/** Fails when a merge loses or invents a member, or the text differs from the merged document. */
export const configMerge = fc.asyncProperty(files, patches, async (file, patch) => {
  const line = `kept = [1, "a"] # by hand`;
  const source = `${stringify(file)}\n[of_another_version]\n${line}\n`;
  const before = parseToml(source);
  const after = patchDocument(before, configPatchSchema.parse(patch), { env: {}, memory: undefined });
  deepStrictEqual(before, parseToml(source), 'the document before is changed');
  deepStrictEqual(after, toTable(object(Object.entries(merged(before, patch) ?? before))));
  const edited = await editToml(source, after, before);
  deepStrictEqual(parseToml(edited.text), after, source);
  ok(!edited.commentsKept || edited.text.includes(line), `the comment is lost: ${edited.text}`);
});
