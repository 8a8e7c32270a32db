/** Frames about terminals: what clients ask for, and what those who are attached receive. */
import { z } from 'zod';
import { count, isoTime, nonEmpty } from './scalars.ts';
import { screenSide } from './terminal.ts';

const terminal = { session_id: nonEmpty, terminal_id: nonEmpty };

export const terminalAttachFrame = {
  type: 'terminal_attach',
  summary: 'Replays the output of a terminal after a number, then follows it.',
  payload: z.object({ ...terminal, since_seq: count.default(0) }),
  ack: z.object({ attached: z.literal(true), replayed: count }),
} as const;

export const terminalDetachFrame = {
  type: 'terminal_detach',
  summary: 'Stops following a terminal, which goes on.',
  payload: z.object(terminal),
  ack: z.object({ detached: z.literal(true) }),
} as const;

export const terminalInputFrame = {
  type: 'terminal_input',
  summary: 'Sends text to the program of a terminal.',
  payload: z.object({ ...terminal, data: z.string() }),
  ack: z.object({ accepted: z.literal(true) }),
} as const;

export const terminalResizeFrame = {
  type: 'terminal_resize',
  summary: 'Gives the screen of a terminal another size.',
  payload: z.object({ ...terminal, cols: screenSide, rows: screenSide }),
  ack: z.object({ resized: z.literal(true) }),
} as const;

export const terminalCloseFrame = {
  type: 'terminal_close',
  summary: 'Ends a terminal and its program.',
  payload: z.object(terminal),
  ack: z.object({ closed: z.literal(true) }),
} as const;

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
