import * as z from 'zod';
import { nonEmpty } from '#schema/scalars.ts';

/** Path parameters: free text, not empty. Names as in the file's path, in its order. */
export function pathParams<const Name extends string>(...names: Name[]): z.ZodObject<Record<Name, typeof nonEmpty>> {
  const shape = Object.fromEntries(names.map((name) => [name, nonEmpty])) as Record<Name, typeof nonEmpty>;
  return z.object(shape);
}
