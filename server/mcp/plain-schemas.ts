/**
 * Validation of simple schemas, which most tools have: short, and without keywords whose matching time is not linear in
 * the arguments. They are matched on this thread, which saves each call the round trip to the schema thread.
 */
import type { ErrorObject, ValidateFunction } from 'ajv';
import { memoizeByObject } from '#server/memo/by-object.ts';

/** A schema that passed the check. */
export interface ArgumentSchema {
  /** The schema as models receive it. */
  readonly parameters: Record<string, unknown>;
  readonly text: string;
  readonly hash: string;
}

const MAX_CHARS = 16_384;
const MAX_TOLD = 20;
/** Regular expressions, references, pairwise comparisons, and keywords that differ between the drafts. */
const OTHERS = /"(pattern|patternProperties|uniqueItems|dependencies|additionalItems|\$\w+)":|"items":\[/;

/** Whether an already compiled schema is simple. */
export const isPlain = (text: string): boolean => text.length <= MAX_CHARS && !OTHERS.test(text);

const compiled = memoizeByObject(async ({ parameters }: ArgumentSchema): Promise<ValidateFunction> => {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const options = { strict: false, logger: false, validateFormats: false, meta: false, validateSchema: false } as const;
  return new Ajv2020({ ...options, allErrors: true, addUsedSchema: false }).compile(parameters);
});

/** The same message as the schema thread returns; undefined when the arguments fit. */
export async function plainProblem(schema: ArgumentSchema, args: unknown): Promise<string | undefined> {
  const validate = await compiled(schema);
  if (validate(args)) return undefined;
  return (validate.errors ?? []).slice(0, MAX_TOLD).map(describe).join('; ').slice(0, 2000);
}

function describe({ instancePath, message = 'is invalid', keyword, params }: ErrorObject): string {
  const path = instancePath.slice(1).replaceAll('/', '.');
  const extra = keyword === 'additionalProperties' ? `: ${String(params.additionalProperty)}` : '';
  return `${path ? `${path}: ` : ''}${message}${extra}`;
}
