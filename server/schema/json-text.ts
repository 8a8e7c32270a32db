import { z } from 'zod';

/** JSON of somebody else as text, parsed; to be piped into the schema of what it holds. */
export const jsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue('no JSON');
    return z.NEVER;
  }
});
