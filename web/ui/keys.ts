/** Names of keys, such as `Mod+Shift+D`, as a person reads them. */
const isMac = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform);

const macNames: Record<string, string> = { Mod: '⌘', Ctrl: '⌃', Alt: '⌥', Shift: '⇧', Enter: '↩', Backquote: '`' };
const otherNames: Record<string, string> = { Mod: 'Ctrl', Backquote: '`' };
const ariaNames: Record<string, string> = { Mod: isMac ? 'Meta' : 'Control', Ctrl: 'Control', Backquote: '`' };

const parts = (keys: string) => keys.split('+');

/** The names of keys that are pressed together, for the platform of the browser. */
export function keyNames(keys: string, mac = isMac): string[] {
  const names = mac ? macNames : otherNames;
  return parts(keys).map((key) => names[key] ?? key);
}

/** The value of `aria-keyshortcuts`. */
export const ariaKeys = (keys: string) =>
  parts(keys)
    .map((key) => ariaNames[key] ?? key)
    .join('+');
