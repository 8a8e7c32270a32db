/** Frames about terminals: requests, and what attached connections receive. */
import * as z from 'zod';
import { count, isoTime, nonEmpty } from '../scalars.ts';

/** The operating system stores screen sizes in 16 bits. */
const MAX_SIDE = 65_535;
/** Number of columns or rows of a screen. */
export const screenSide = z.number().int().min(1).max(MAX_SIDE);

const terminal = { session_id: nonEmpty, terminal_id: nonEmpty };

export const terminalAttachFrame = {
  type: 'terminal_attach',
  summary: 'Replays the output of a terminal after a number, then follows it.',
  payload: z.object({ ...terminal, since_seq: count.default(0) }),
  ack: z.object({ attached: z.literal(true), replayed: count }),
} as const;

export const terminalDetachFrame = {
  type: 'terminal_detach',
  summary: 'Stops following a terminal, which continues.',
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
  summary: 'Resizes the screen of a terminal.',
  payload: z.object({ ...terminal, cols: screenSide, rows: screenSide }),
  ack: z.object({ resized: z.literal(true) }),
} as const;

export const terminalCloseFrame = {
  type: 'terminal_close',
  summary: 'Ends a terminal and its program.',
  payload: z.object(terminal),
  ack: z.object({ closed: z.literal(true) }),
} as const;

export const terminalOutputFrame = {
  type: 'terminal_output',
  summary: 'Output of a terminal, numbered without gaps from 1.',
  schema: z.object({
    type: z.literal('terminal_output'),
    seq: z.number().int().min(1),
    ...terminal,
    timestamp: isoTime,
    payload: z.object({ data: z.string() }),
  }),
} as const;

export const terminalExitFrame = {
  type: 'terminal_exit',
  summary: 'The last frame of a terminal: its program has ended.',
  schema: z.object({
    type: z.literal('terminal_exit'),
    ...terminal,
    timestamp: isoTime,
    payload: z.object({ exit_code: z.number().int().nullable() }),
  }),
} as const;

export const terminalResizedFrame = {
  type: 'terminal_resized',
  summary: 'The screen of a terminal has another size.',
  schema: z.object({
    type: z.literal('terminal_resized'),
    ...terminal,
    timestamp: isoTime,
    payload: z.object({ cols: screenSide, rows: screenSide }),
  }),
} as const;
