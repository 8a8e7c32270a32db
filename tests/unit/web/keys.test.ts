/** Keys of commands: how they are compared with pressed keys, and where they apply. */
import { expect, it } from 'vitest';
import type { Command, Region } from '../../../web/features/feature.ts';
import { chordName, parseChord, pressedChord, type PressedKey } from '../../../web/keys/chord.ts';
import { createKeyMap } from '../../../web/keys/key-map.ts';

function press(code: string, more: Partial<PressedKey> = {}): PressedKey {
  const none = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
  return { code, key: '', ...none, getModifierState: () => false, ...more };
}
const named = (keys: string, isMac = false) => chordName(parseChord(keys, isMac));
const strict = { isStrict: true, isMac: false };
const command = (id: string, keys: string, scope?: Region): Command => ({
  id,
  title: () => id,
  keys,
  ...(scope && { scope }),
  run: () => undefined,
});

it('compares the position of a key, whatever character the layout or a Mac has there', () => {
  expect(pressedChord(press('KeyN', { altKey: true, key: 'Dead' }), true)).toBe(named('Alt+N'));
  expect(pressedChord(press('KeyN', { altKey: true, key: 'n' }), false)).toBe(named('Alt+N'));
  expect(pressedChord(press('Backslash', { ctrlKey: true, key: '#' }), false)).toBe(named('Mod+\\'));
  expect(pressedChord(press('ArrowUp', { metaKey: true, altKey: true }), true)).toBe(named('Mod+Alt+↑'));
});

it('has Command as Mod on a Mac, else Control, which a Mac has in addition', () => {
  expect(pressedChord(press('KeyK', { metaKey: true }), true)).toBe(named('Mod+K'));
  expect(pressedChord(press('KeyK', { ctrlKey: true }), false)).toBe(named('Mod+K'));
  expect(pressedChord(press('KeyO', { ctrlKey: true }), true)).toBe(named('Ctrl+O', true));
  expect(named('Ctrl+O', true)).not.toBe(named('Mod+O', true));
  expect(pressedChord(press('KeyO', { ctrlKey: true }), false)).toBe(named('Ctrl+O'));
  expect(pressedChord(press('KeyK', { metaKey: true }), false)).toBeUndefined();
});

it('leaves characters of AltGr alone', () => {
  const altGraph = { ctrlKey: true, altKey: true, getModifierState: (name: string) => name === 'AltGraph' };
  expect(pressedChord(press('KeyW', altGraph), false)).toBeUndefined();
});

it('finds the question mark by its character', () => {
  expect(pressedChord(press('Minus', { shiftKey: true, key: '?' }), false)).toBe(named('?'));
});

it('refuses unknown modifiers', () => {
  expect(() => parseChord('Hyper+K', false)).toThrow('Hyper+K');
});

it('throws for two commands with the same keys in a region, in any spelling', () => {
  const both = [command('one', 'Shift+Mod+D'), command('two', 'Mod+Shift+D')];
  expect(() => createKeyMap(both, strict)).toThrow('two has the keys of one: Mod+Shift+D');
  const found = createKeyMap(both, { ...strict, isStrict: false }).find(
    press('KeyD', { ctrlKey: true, shiftKey: true }),
    { region: undefined, inText: false },
  );
  expect(found.map(({ id }) => id)).toEqual(['one']);
  expect(() => createKeyMap([command('one', 'J'), command('two', 'J', 'conversation')], strict)).not.toThrow();
});

it('prefers the command of the focused region, and types characters in a text field', () => {
  const keys = createKeyMap(
    [command('everywhere', 'J'), command('turn', 'J', 'conversation'), command('close', 'Esc')],
    strict,
  );
  const find = (code: string, region: Region | undefined, inText = false) =>
    keys.find(press(code), { region, inText }).map(({ id }) => id);
  expect(find('KeyJ', 'conversation')).toEqual(['turn', 'everywhere']);
  expect(find('KeyJ', 'panel')).toEqual(['everywhere']);
  expect(find('KeyJ', 'prompt', true)).toEqual([]);
  expect(find('Escape', 'prompt', true)).toEqual(['close']);
});
