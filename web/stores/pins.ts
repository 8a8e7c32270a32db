/** Ids of the sessions that a person has pinned in this browser. */
import { shallowRef } from 'vue';

/** The subset of the browser's storage that is used. */
export interface PinStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/** More than a list of pins is useful for; the oldest pin is dropped. */
const MOST_PINS = 100;

/** Returns the ids in the stored text; a damaged one has none. */
function parsePins(text: string | null): readonly string[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value.filter((id) => typeof id === 'string').slice(0, MOST_PINS) : [];
  } catch {
    return [];
  }
}

/** `key` names the pins in the storage; pages of another server need another one. */
export function createPins(storage: PinStorage, key: string) {
  const ids = shallowRef(parsePins(storage.getItem(key)));
  return {
    /** The newest pin first. */
    ids,
    toggle(id: string): void {
      // Another tab may have changed them.
      const stored = parsePins(storage.getItem(key));
      const others = stored.filter((pinned) => pinned !== id);
      ids.value = others.length < stored.length ? others : [id, ...others].slice(0, MOST_PINS);
      storage.setItem(key, JSON.stringify(ids.value));
    },
    /** Accepts a change by another tab. */
    changed(event: { key: string | null; newValue: string | null }): void {
      if (event.key === key) ids.value = parsePins(event.newValue);
    },
  };
}
