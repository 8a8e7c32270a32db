/** Numbers of the cloud's replies. */
import * as z from 'zod';

/** A number, or a string with a decimal one. */
export const decimal = z
  .union([
    z.number(),
    z
      .string()
      .trim()
      .regex(/^-?\d+(\.\d+)?$/)
      .transform(Number),
  ])
  .pipe(z.number());
