/**
 * Schemas that most tools have: short, and without anything that could take longer than the arguments are long. They are
 * matched where they are needed, which spares each call the way to the thread and back.
 */
import type { ErrorObject, ValidateFunction } from 'ajv';
import { oncePer } from '#server/once-per.ts';

/** A schema that a tool may have. */
export interface ArgumentSchema {
  /** As models are told it. */
  readonly parameters: Record<string, unknown>;
  readonly text: string;
  readonly hash: string;
}

const MAX_CHARS = 16_384;
const MAX_TOLD = 20;
/** Expressions, references, comparisons of everything with everything, and what the drafts do not agree on. */
const OTHERS = /"(pattern|patternProperties|uniqueItems|dependencies|additionalItems|\$\w+)":|"items":\[/;

/** Of a schema that was compiled before. */
export const isPlain = (text: string): boolean => text.length <= MAX_CHARS && !OTHERS.test(text);

const compiled = oncePer(async ({ parameters }: ArgumentSchema): Promise<ValidateFunction> => {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const options = { strict: false, logger: false, validateFormats: false, meta: false, validateSchema: false } as const;
  return new Ajv2020({ ...options, allErrors: true, addUsedSchema: false }).compile(parameters);
});

/** As the thread tells it. */
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
