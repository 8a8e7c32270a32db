/** Normalizes tool schemas for the native provider: without `$ref`, every property with a type. */
import { asRecord } from '#server/text/json.ts';
import { memoizeByObject } from '#server/memo/by-object.ts';

type Schema = Record<string, unknown>;

const DEFINITION_TABLES = ['$defs', 'definitions'];
/** Keywords that hold one schema, a list of schemas, a table of schemas. */
const SCHEMA_KEYWORDS = ['items', 'additionalProperties', 'not', 'contains', 'propertyNames', 'if', 'then', 'else'];
const LIST_KEYWORDS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const TABLE_KEYWORDS = ['properties', 'patternProperties'];

/** Keywords that apply to one type only. */
const TYPE_OF_KEYWORD: Record<string, string> = {
  properties: 'object',
  patternProperties: 'object',
  additionalProperties: 'object',
  propertyNames: 'object',
  required: 'object',
  minProperties: 'object',
  maxProperties: 'object',
  items: 'array',
  prefixItems: 'array',
  contains: 'array',
  minItems: 'array',
  maxItems: 'array',
  uniqueItems: 'array',
  minLength: 'string',
  maxLength: 'string',
  pattern: 'string',
  format: 'string',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'number',
};

/**
 * Inlines local `$ref`s, removes unreferenced definition tables (a recursive type keeps its table), adds a `type` to
 * every property schema, and drops keywords that do not apply to its type. The input is not changed. Memoized by object
 * identity, since every request sends the same schema objects.
 */
export const normalizeToolSchema = memoizeByObject(normalize);

function normalize(root: Schema): Schema {
  const recursive = new Set<string>();

  function resolve(ref: string): Schema | undefined {
    if (!ref.startsWith('#/')) return undefined;
    let target: unknown = root;
    for (const step of ref.slice(2).split('/')) {
      target = asRecord(target)?.[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')];
    }
    return asRecord(target);
  }

  function visit(schema: Schema, open: readonly string[], isProperty: boolean): Schema {
    const ref = schema.$ref;
    if (typeof ref === 'string') {
      const target = resolve(ref);
      if (target && !open.includes(ref)) {
        const { $ref: _, ...siblings } = schema;
        return visit({ ...target, ...siblings }, [...open, ref], isProperty);
      }
      if (target) recursive.add(ref);
      return schema;
    }
    const result: Schema = {};
    for (const [key, value] of Object.entries(schema)) {
      if (DEFINITION_TABLES.includes(key)) continue;
      result[key] = visitKeyword(key, value, open);
    }
    if (isProperty && result.type === undefined) {
      const type = inferType(result);
      if (type !== undefined) result.type = type;
    }
    return withoutForeignKeywords(result);
  }

  function visitKeyword(key: string, value: unknown, open: readonly string[]): unknown {
    const child = asRecord(value);
    if (SCHEMA_KEYWORDS.includes(key) && child) return visit(child, open, key === 'items');
    if (LIST_KEYWORDS.includes(key) && Array.isArray(value)) {
      return value.map((item: unknown) => {
        const schema = asRecord(item);
        return schema ? visit(schema, open, true) : item;
      });
    }
    if (TABLE_KEYWORDS.includes(key) && child) {
      return Object.fromEntries(
        Object.entries(child).map(([name, item]) => {
          const schema = asRecord(item);
          return [name, schema ? visit(schema, open, true) : item];
        }),
      );
    }
    return value;
  }

  const result = visit(root, [], false);
  for (const ref of recursive) {
    const [table, name] = ref.slice(2).split('/');
    const target = resolve(ref);
    if (!table || !name || !target || !DEFINITION_TABLES.includes(table)) continue;
    result[table] = { ...asRecord(result[table]), [name]: visit(target, [ref], true) };
  }
  return result;
}

/** Infers from enum or const values, else from the keywords, else `string`; undefined for branches (`anyOf`). */
function inferType(schema: Schema): string | string[] | undefined {
  const values = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : undefined;
  if (values?.length) {
    const types = [...new Set(values.map(typeOfValue))];
    return types.length === 1 ? types[0] : types;
  }
  if (LIST_KEYWORDS.some((key) => key !== 'prefixItems' && key in schema)) return undefined;
  for (const key of Object.keys(schema)) {
    const type = TYPE_OF_KEYWORD[key];
    if (type) return type;
  }
  return 'string';
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function withoutForeignKeywords(schema: Schema): Schema {
  if (schema.type === undefined) return schema;
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return Object.fromEntries(
    Object.entries(schema).filter(([key]) => {
      const owner = TYPE_OF_KEYWORD[key];
      return owner === undefined || types.includes(owner) || (owner === 'number' && types.includes('integer'));
    }),
  );
}
