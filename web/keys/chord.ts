/** Keys of commands, such as `Mod+Shift+D`: `Mod` is Command on a Mac, else Control; `Ctrl` is always Control. */

export interface Chord {
  mod: boolean;
  /** Control of a Mac; elsewhere it is `mod`. */
  ctrl: boolean;
  alt: boolean;
  shift: boolean;
  /** Value of `event.code`, which names the position of the key and so is the same in all keyboard layouts. */
  code: string;
}

/** The subset of a keyboard event that is compared. */
export type PressedKey = Pick<
  KeyboardEvent,
  'code' | 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey' | 'getModifierState'
>;

/** The one key that is found by its character: its position differs between layouts. */
const HELP = '?';

const CODES: Readonly<Record<string, string>> = {
  '.': 'Period',
  ',': 'Comma',
  '/': 'Slash',
  '\\': 'Backslash',
  '-': 'Minus',
  '=': 'Equal',
  '↑': 'ArrowUp',
  '↓': 'ArrowDown',
  '←': 'ArrowLeft',
  '→': 'ArrowRight',
  Esc: 'Escape',
};

function codeOf(name: string): string {
  if (/^[A-Za-z]$/.test(name)) return `Key${name.toUpperCase()}`;
  if (/^\d$/.test(name)) return `Digit${name}`;
  return CODES[name] ?? name;
}

/** Parses keys; throws for an unknown modifier. */
export function parseChord(keys: string, isMac: boolean): Chord {
  const parts = keys.split('+');
  const name = parts.pop() ?? '';
  const modifiers = new Set(parts);
  const [hasMod, hasCtrl] = [modifiers.delete('Mod'), modifiers.delete('Ctrl')];
  const [alt, shift] = [modifiers.delete('Alt'), modifiers.delete('Shift')];
  if (modifiers.size > 0 || name === '') throw new Error(`Unknown keys: ${keys}`);
  const control = isMac ? { mod: hasMod, ctrl: hasCtrl } : { mod: hasMod || hasCtrl, ctrl: false };
  return { ...control, alt, shift, code: name === HELP ? HELP : codeOf(name) };
}

/** Identifies a chord: equal for equal keys, in any spelling. */
export const chordName = ({ mod, ctrl, alt, shift, code }: Chord): string =>
  [mod && 'Mod', ctrl && 'Ctrl', alt && 'Alt', shift && 'Shift', code].filter(Boolean).join('+');

/** Keys that type no character. */
const isFunctionKey = /^(F\d+|Escape|Arrow\w+)$/;

/** Whether the chord types a character in a text field. */
export const isTyped = ({ mod, ctrl, alt, code }: Chord): boolean => !mod && !ctrl && !alt && !isFunctionKey.test(code);

/** The name of the pressed chord; undefined for keys that no command may have, such as those of AltGr. */
export function pressedChord(event: PressedKey, isMac: boolean): string | undefined {
  if (event.getModifierState('AltGraph')) return undefined;
  const [mod, ctrl] = isMac ? [event.metaKey, event.ctrlKey] : [event.ctrlKey, false];
  if (!isMac && event.metaKey) return undefined;
  if (!mod && !ctrl && !event.altKey && event.key === HELP) return HELP;
  return chordName({ mod, ctrl, alt: event.altKey, shift: event.shiftKey, code: event.code });
}

const isApple = /^(Mac|iPhone|iPad)/;
export const isMac = (): boolean => isApple.test(navigator.platform);
