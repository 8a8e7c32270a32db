/** Schema for JSON texts within other values. */
import * as z from 'zod';
import { tryParseJson } from './json.ts';

/** Schema of a JSON text from another program; pipe it into the schema of the parsed value. */
export const jsonText = z.string().transform((text, context): unknown => {
  const value = tryParseJson(text);
  if (value !== undefined) return value;
  context.addIssue('no JSON');
  return z.NEVER;
});
