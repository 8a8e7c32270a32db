/** Terminals of a session on the wire. */
import * as z from 'zod';
import { isoTime, nonEmpty } from '../scalars.ts';
import { screenSide } from '../frames/terminals.ts';

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
  /** Null if the terminal was closed or a signal terminated the program. */
  exit_code: z.number().int().nullable().optional(),
});
export type Terminal = z.infer<typeof terminalSchema>;

const ABSOLUTE = /^([/\\]|[A-Za-z]:[/\\])/;
const withoutNul = nonEmpty.refine((text) => !text.includes('\0'), 'must not contain a NUL character');

export const createTerminalSchema = z.object({
  runtime_id: nonEmpty.default('local'),
  cwd: withoutNul.refine((path) => !ABSOLUTE.test(path), 'cwd must be relative to the session workspace').default('.'),
  /** One program without arguments: a path, or a name to look up in PATH. */
  shell: withoutNul.optional(),
  cols: screenSide.default(80),
  rows: screenSide.default(24),
});
export type CreateTerminal = z.infer<typeof createTerminalSchema>;
