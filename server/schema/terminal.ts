/** Terminals of a session on the wire. */
import { z } from 'zod';
import { isoTime, nonEmpty } from './scalars.ts';

/** Screens are counted in 16 bits by the system. */
const MAX_SIDE = 65_535;
/** Columns or rows of a screen. */
export const screenSide = z.number().int().min(1).max(MAX_SIDE);

export const terminalSchema = z.object({
  id: nonEmpty,
  session_id: nonEmpty,
  cwd: nonEmpty,
  shell: nonEmpty,
  cols: screenSide,
  rows: screenSide,
  status: z.enum(['running', 'exited']),
  created_at: isoTime,
  exited_at: isoTime.optional(),
  /** Null when the terminal was closed or a signal ended the program. */
  exit_code: z.number().int().nullable().optional(),
});
export type Terminal = z.infer<typeof terminalSchema>;

const ABSOLUTE = /^([/\\]|[A-Za-z]:[/\\])/;
const withoutNul = nonEmpty.refine((text) => !text.includes('\0'), 'must not contain a NUL character');

export const createTerminalSchema = z.object({
  runtime_id: nonEmpty.default('local'),
  cwd: withoutNul.refine((path) => !ABSOLUTE.test(path), 'cwd must be relative to the session workspace').default('.'),
  /** One program, a path or a name on PATH, without arguments. */
  shell: withoutNul.optional(),
  cols: screenSide.default(80),
  rows: screenSide.default(24),
});
export type CreateTerminal = z.infer<typeof createTerminalSchema>;
