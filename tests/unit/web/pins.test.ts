/** Pins in the browser's storage. */
import { expect, it } from 'vitest';
import { createPins } from '../../../web/stores/pins.ts';

function storageOf(stored: Record<string, string> = {}) {
  return {
    stored,
    getItem: (key: string) => stored[key] ?? null,
    setItem: (key: string, value: string) => void (stored[key] = value),
  };
}

it('stores pins, the newest first, and removes them', () => {
  const storage = storageOf();
  const pins = createPins(storage, 'pins');
  for (const id of ['a', 'b', 'c', 'b']) pins.toggle(id);
  expect(pins.ids.value).toEqual(['c', 'a']);
  expect(createPins(storage, 'pins').ids.value).toEqual(['c', 'a']);
  expect(createPins(storage, 'pins of another server').ids.value).toEqual([]);
});

it('keeps what another tab has stored, and follows it', () => {
  const storage = storageOf();
  const [here, there] = [createPins(storage, 'pins'), createPins(storage, 'pins')];
  there.toggle('a');
  here.toggle('b');
  expect(here.ids.value).toEqual(['b', 'a']);
  there.changed({ key: 'something else', newValue: null });
  expect(there.ids.value).toEqual(['a']);
  there.changed({ key: 'pins', newValue: storage.stored['pins'] ?? null });
  expect(there.ids.value).toEqual(['b', 'a']);
});

it.each(['{', '7', 'null', '{"a":1}', '[1,"a",null]'])('reads a damaged storage: %s', (text) => {
  const pins = createPins(storageOf({ pins: text }), 'pins');
  expect(pins.ids.value).toEqual(text.includes('"a",') ? ['a'] : []);
  pins.toggle('b');
  expect(pins.ids.value[0]).toBe('b');
});

it('has a hundred pins at most', () => {
  const pins = createPins(storageOf(), 'pins');
  for (let number = 0; number < 103; number += 1) pins.toggle(`session_${number}`);
  expect(pins.ids.value).toHaveLength(100);
  expect(pins.ids.value[0]).toBe('session_102');
  expect(pins.ids.value).not.toContain('session_2');
});
