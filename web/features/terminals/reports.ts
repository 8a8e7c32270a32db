/**
 * Terminal queries of a program, which the emulator answers as if typed: device attributes, cursor position, modes and
 * colours.
 */
import type { IParser } from '@xterm/xterm';

const CONTROLS = [
  { final: 'c' },
  { prefix: '>', final: 'c' },
  { final: 'n' },
  { prefix: '?', final: 'n' },
  { intermediates: '$', final: 'p' },
  { prefix: '?', intermediates: '$', final: 'p' },
];
const STATUS_STRING = { intermediates: '$', final: 'q' };
/** These sequences also set a colour. */
const COLOURS = [4, 10, 11, 12];

/** Leaves queries unanswered while `muted` returns true. */
export function muteReports(parser: IParser, muted: () => boolean): void {
  for (const control of CONTROLS) parser.registerCsiHandler(control, muted);
  parser.registerDcsHandler(STATUS_STRING, muted);
  for (const colour of COLOURS) parser.registerOscHandler(colour, (data) => data.includes('?') && muted());
}
