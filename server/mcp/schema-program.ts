/**
 * Program of the thread that compiles and matches foreign schemas. Each schema gets a separate validator, so that `$id`s
 * of one do not resolve in another.
 */
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { serveRequests } from '#server/threads/serve-requests.ts';
import type { Draft, SchemaRequest } from './schema-messages.ts';

const common: Options = { strict: false, logger: false, validateFormats: false };
const KEPT = 100;
const MAX_ERRORS = 20;
const MAX_PROBLEM_CHARS = 2000;
const MAX_REASON_CHARS = 500;

const validators = { 'draft-07': Ajv, '2019-09': Ajv2019, '2020-12': Ajv2020 };
/** Validators of schemas themselves, one for each draft that was used. */
const metaValidators = new Map<Draft, Ajv | Ajv2019 | Ajv2020>();
/** Compiled schemas by hash. */
const compiled = new Map<string, ValidateFunction>();

function metaValidator(draft: Draft) {
  let meta = metaValidators.get(draft);
  if (!meta) {
    const Validator = validators[draft];
    meta = new Validator(common);
    // The first use compiles the rules of the draft, which must not count as time of a schema.
    void meta.validateSchema({ type: 'object', properties: { a: { type: 'string' } } });
    new Validator({ ...common, meta: false, validateSchema: false }).compile({ type: 'object' });
    metaValidators.set(draft, meta);
  }
  return meta;
}

function compileAs(draft: Draft, schema: object): ValidateFunction {
  const meta = metaValidator(draft);
  if (!meta.validateSchema(schema)) throw new Error(meta.errorsText(meta.errors));
  const options = { ...common, allErrors: true, meta: false, validateSchema: false, addUsedSchema: false };
  return new validators[draft](options).compile(schema);
}

/** Compiles a schema by the first of the drafts that accepts it; throws the error of the first one. */
function compile(text: string, drafts: readonly Draft[]): ValidateFunction {
  const { $schema: _draft, ...schema } = JSON.parse(text);
  let first: unknown;
  for (const draft of drafts) {
    try {
      return compileAs(draft, schema);
    } catch (error) {
      first ??= error;
    }
  }
  throw first;
}

function describe({ instancePath, message, keyword, params }: ErrorObject): string {
  const path = instancePath.slice(1).replaceAll('/', '.');
  const extra = keyword === 'additionalProperties' ? `: ${params.additionalProperty}` : '';
  return `${path ? `${path}: ` : ''}${message}${extra}`;
}

/** Returns the problem of arguments, undefined if they fit. */
function validate(hash: string, text: string, drafts: readonly Draft[], args: string): string | undefined {
  let check = compiled.get(hash);
  if (!check) {
    check = compile(text, drafts);
    const [oldest] = compiled.keys();
    if (compiled.size >= KEPT && oldest !== undefined) compiled.delete(oldest);
    compiled.set(hash, check);
  }
  if (check(JSON.parse(args))) return undefined;
  return (check.errors ?? []).slice(0, MAX_ERRORS).map(describe).join('; ').slice(0, MAX_PROBLEM_CHARS);
}

function problemOf(request: SchemaRequest): string | undefined {
  const { drafts } = request;
  if (request.kind === 'load') for (const draft of drafts) metaValidator(draft);
  else if (request.kind === 'compile') compile(request.text, drafts);
  else return validate(request.hash, request.text, drafts, request.args);
  return undefined;
}

serveRequests<SchemaRequest>({
  answer(request) {
    try {
      return problemOf(request);
    } catch (error) {
      return (error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON_CHARS);
    }
  },
});
