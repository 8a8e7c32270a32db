/** Terminals of a session on the wire, and what those who are attached receive. */
import { z } from 'zod';
import { isoTime, nonEmpty } from './scalars.ts';
import { screenSide, terminal } from './terminal-frames.ts';

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

export const terminalOutputSchema = z.object({
  type: z.literal('terminal_output'),
  seq: z.number().int().min(1),
  ...terminal,
  timestamp: isoTime,
  payload: z.object({ data: z.string() }),
});

export const terminalExitSchema = z.object({
  type: z.literal('terminal_exit'),
  ...terminal,
  timestamp: isoTime,
  payload: z.object({ exit_code: z.number().int().nullable() }),
});

export const terminalResizedSchema = z.object({
  type: z.literal('terminal_resized'),
  ...terminal,
  timestamp: isoTime,
  payload: z.object({ cols: screenSide, rows: screenSide }),
});

/** What those who are attached receive. */
export type TerminalFrame =
  z.infer<typeof terminalOutputSchema> | z.infer<typeof terminalExitSchema> | z.infer<typeof terminalResizedSchema>;
