/** Zod schemas as JSON Schema 2020-12; those with an id (`.meta({ id })`) become shared components. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;
type Direction = 'input' | 'output';

export interface Components {
  /** The schema with references to shared components in place of those that have an id. */
  convert(schema: z.ZodType, direction: Direction): JsonSchema;
  /** The schema itself, even when it has an id. */
  inline(schema: z.ZodType, direction: Direction): JsonSchema;
  /** Registers a ready schema under a name and returns the reference to it. */
  named(name: string, schema: JsonSchema): JsonSchema;
  /** All components so far, by name in alphabetical order. */
  schemas(): Record<string, JsonSchema>;
}

const LOCAL = '#/$defs/';
/** Zod's own names for recursive schemas without an id; they mean nothing beyond one conversion. */
const ANONYMOUS = /^__schema\d+$/;

const jsonSchema = z.record(z.string(), z.unknown());
const wrapperShape = z.object({
  properties: z.object({ schema: jsonSchema }),
  $defs: z.record(z.string(), jsonSchema).default({}),
});

/** Copies a value with every reference below `local` (`#/$defs/`) replaced by what `rename` says of its name. */
function rewriteReferences(value: unknown, local: string, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => rewriteReferences(item, local, rename));
  if (typeof value !== 'object' || value === null) return value;
  const copy: JsonSchema = {};
  for (const [key, member] of Object.entries(value)) {
    const isLocal = key === '$ref' && typeof member === 'string' && member.startsWith(local);
    copy[key] = isLocal ? rename(member.slice(local.length)) : rewriteReferences(member, local, rename);
  }
  return copy;
}

/** The copy of a schema, which stays one. */
export function rewriteSchema(schema: unknown, local: string, rename: (name: string) => string): JsonSchema {
  return jsonSchema.parse(rewriteReferences(schema, local, rename));
}

/** Components of one document; `prefix` is where it keeps them (`#/components/schemas/`). */
export function createComponents(prefix: string): Components {
  const byName = new Map<string, JsonSchema>();

  /** A name for `schema`: `base`, or with a suffix when that already means something else. */
  function register(base: string, suffixes: string[], schema: JsonSchema): string {
    for (const suffix of suffixes) {
      const name = base + suffix;
      const known = byName.get(name);
      if (known && !isDeepStrictEqual(known, schema)) continue;
      byName.set(name, schema);
      return name;
    }
    throw new Error(`two different schemas have the id ${base}`);
  }

  function convert(schema: z.ZodType, direction: Direction): JsonSchema {
    // Wrapped, so that a schema with an id of its own is a reference too.
    const converted = wrapperShape.parse(
      z.toJSONSchema(z.object({ schema }), { io: direction, unrepresentable: 'any', target: 'draft-2020-12' }),
    );
    // What a body may leave out, a reply has: one id may stand for two shapes.
    const suffixes = direction === 'input' ? ['', 'Input'] : ['', 'Output'];
    const names = new Map<string, string>();
    const resolve = (local: string): string => {
      const known = names.get(local);
      if (known !== undefined) return prefix + known;
      const definition = converted.$defs[local];
      if (!definition) throw new Error(`unknown definition ${local}`);
      const { id: _id, ...body } = definition;
      if (ANONYMOUS.test(local)) {
        // Recursive: it must have its name before its body is rewritten.
        const name = `Recursive${byName.size}`;
        names.set(local, name);
        byName.set(name, {});
        byName.set(name, rewriteSchema(body, LOCAL, resolve));
        return prefix + name;
      }
      names.set(local, local);
      const name = register(local, suffixes, rewriteSchema(body, LOCAL, resolve));
      names.set(local, name);
      return prefix + name;
    };
    return rewriteSchema(converted.properties.schema, LOCAL, resolve);
  }

  return {
    convert,
    inline(schema, direction) {
      const converted = convert(schema, direction);
      const { $ref } = converted;
      const target = typeof $ref === 'string' ? byName.get($ref.slice(prefix.length)) : undefined;
      return target ?? converted;
    },
    named(name, schema) {
      return { $ref: prefix + register(name, [''], schema) };
    },
    schemas: () => Object.fromEntries([...byName].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}
