/** Converts zod schemas to JSON Schema 2020-12; schemas with an id (`.meta({ id })`) become shared components. */
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';

export type JsonSchema = Record<string, unknown>;
type Direction = 'input' | 'output';

export interface Components {
  /** Converts a schema; nested schemas with an id become references to shared components. */
  convert(schema: z.ZodType, direction: Direction): JsonSchema;
  /** Converts a schema inline, even if it has an id. */
  inline(schema: z.ZodType, direction: Direction): JsonSchema;
  /** Registers a converted schema under a name and returns the reference to it. */
  named(name: string, schema: JsonSchema): JsonSchema;
  /** All registered components, keyed by name in alphabetical order. */
  schemas(): Record<string, JsonSchema>;
}

const LOCAL = '#/$defs/';
/** Zod's names for recursive schemas without an id; unique only within one conversion. */
const ANONYMOUS = /^__schema\d+$/;

const jsonSchema = z.record(z.string(), z.unknown());
const wrapperShape = z.object({
  properties: z.object({ schema: jsonSchema }),
  $defs: z.record(z.string(), jsonSchema).default({}),
});

/** Deep-copies a value; each reference below `local` (`#/$defs/`) is replaced with `rename(name)`. */
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

/** Rewrites the references of a schema, like `rewriteReferences`, and returns it as a schema. */
export function rewriteSchema(schema: unknown, local: string, rename: (name: string) => string): JsonSchema {
  return jsonSchema.parse(rewriteReferences(schema, local, rename));
}

/** Creates the component registry of one document; `prefix` is the components' path in it (`#/components/schemas/`). */
export function createComponents(prefix: string): Components {
  const byName = new Map<string, JsonSchema>();

  /** Registers `schema` as `base`, or with a suffix if that name has another schema. Returns the name. */
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
    // Wrapped, so that a schema that has an id becomes a reference too.
    const converted = wrapperShape.parse(
      z.toJSONSchema(z.object({ schema }), { io: direction, unrepresentable: 'any', target: 'draft-2020-12' }),
    );
    // Members with a default are optional in a body and required in a reply, so one id may need two shapes.
    const suffixes = direction === 'input' ? ['', 'Input'] : ['', 'Output'];
    const names = new Map<string, string>();
    const resolve = (local: string): string => {
      const known = names.get(local);
      if (known !== undefined) return prefix + known;
      const definition = converted.$defs[local];
      if (!definition) throw new Error(`unknown definition ${local}`);
      const { id: _id, ...body } = definition;
      if (ANONYMOUS.test(local)) {
        // Recursive: the name must be registered before the body is rewritten.
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
