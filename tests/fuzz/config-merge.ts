/**
 * Fuzz target: a patch of the configuration merges recursively, null removes, and all other members are unchanged; the
 * edited text represents exactly the merged document, and untouched lines keep their comments.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { stringify } from 'smol-toml';
import { configPatchSchema } from '#schema/rest/config-patch.ts';
import { editToml } from '#server/config/document-edit.ts';
import { parseToml, toTable } from '#server/config/document.ts';
import { patchDocument } from '#server/config/patch.ts';
import { integer, pick, type Random } from '#support/random.ts';

type Members = Record<string, unknown>;

/** Names of records; the schema of patches drops `__proto__`, so only files contain it. */
const NAMES = ['acme', 'acme/large', 'a.b', 'with space', '__proto__', 'constructor', 'é', '"quoted"', '0'];
const TEXTS = ['', 'x', 'https://h/v1', 'a "b"', "it's", '\\n', 'line\nline', '😀', '# no comment', '[x]'];

const text = (random: Random) => pick(random, TEXTS);
const sometimes = <T>(random: Random, share: number, make: () => T): T[] => (random() < share ? [make()] : []);

function object(entries: Iterable<readonly [string, unknown]>): Members {
  const made: Members = Object.create(null);
  for (const [key, value] of entries) made[key] = value;
  return made;
}

function record(random: Random, kind: 'providers' | 'models'): Members {
  const members: [string, () => unknown][] =
    kind === 'providers'
      ? [
          ['type', () => pick(random, ['openai', 'anthropic', 'x'])],
          ['base_url', () => text(random)],
          ['api_key', () => text(random)],
          ['custom_headers', () => object(sometimes(random, 0.8, () => [pick(random, NAMES), text(random)] as const))],
        ]
      : [
          ['provider', () => pick(random, NAMES)],
          ['model', () => text(random) || 'm'],
          ['max_context_size', () => 1 + integer(random, 1_000_000)],
          ['capabilities', () => sometimes(random, 0.5, () => 'tool_use')],
        ];
  return object(members.flatMap(([key, make]) => sometimes(random, 0.7, () => [key, make()] as const)));
}

function section(random: Random, kind: 'providers' | 'models'): Members {
  const names = NAMES.filter(() => random() < 0.3);
  return object(names.map((name) => [name, record(random, kind)] as const));
}

function document(random: Random): Members {
  return object([
    ...sometimes(random, 0.5, () => ['default_model', text(random)] as const),
    ...sometimes(random, 0.7, () => ['providers', section(random, 'providers')] as const),
    ...sometimes(random, 0.7, () => ['models', section(random, 'models')] as const),
  ]);
}

/** A patch: a part of another document, with removals. */
function change(random: Random): Members {
  const remove = (value: unknown, depth: number): unknown => {
    if (depth > 0 && random() < 0.15) return null;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const kept = Object.entries(value).filter(([key]) => key !== '__proto__');
    return object(kept.map(([key, member]) => [key, remove(member, depth + 1)] as const));
  };
  return object(
    Object.entries(document(random)).map(([name, value]) => [
      name,
      name === 'default_model' ? (random() < 0.2 ? null : value) : remove(value, 0),
    ]),
  );
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

/** One case. Throws when a merge loses or invents a member, or the text differs from the merged document. */
export async function configMerge(random: Random): Promise<void> {
  const line = `kept = [1, "a"] # by hand`;
  const source = `${stringify(document(random))}\n[of_another_version]\n${line}\n`;
  const before = parseToml(source);
  const untouched = structuredClone(source);
  const body = change(random);
  const after = patchDocument(before, configPatchSchema.parse(body), { env: {}, memory: undefined });
  deepStrictEqual(before, parseToml(untouched));
  deepStrictEqual(after, toTable(object(Object.entries(merged(before, body) ?? before))), JSON.stringify(body));
  const edited = await editToml(source, after);
  deepStrictEqual(parseToml(edited.text), after, source);
  if (edited.commentsKept && !edited.text.includes(line)) throw new Error(`the comment is lost: ${edited.text}`);
}
