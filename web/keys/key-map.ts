/** The commands by their keys and by the region in which these apply. */
import type { Command, Region } from '../features/feature.ts';
import { chordName, isTyped, parseChord, pressedChord, type PressedKey } from './chord.ts';

interface Binding {
  command: Command;
  isTyped: boolean;
}

const nameOf = (scope: Region | undefined, chord: string) => `${scope ?? ''} ${chord}`;

export interface KeyMapOptions {
  /** Throws if two commands have the same keys in the same region; otherwise the first one has them. */
  isStrict: boolean;
  isMac: boolean;
}

export function createKeyMap(commands: readonly Command[], { isStrict, isMac }: KeyMapOptions) {
  const bindings = new Map<string, Binding>();
  for (const command of commands) {
    if (command.keys === undefined) continue;
    const chord = parseChord(command.keys, isMac);
    const name = nameOf(command.scope, chordName(chord));
    const other = bindings.get(name)?.command;
    if (other && isStrict) throw new Error(`${command.id} has the keys of ${other.id}: ${command.keys}`);
    if (!other) bindings.set(name, { command, isTyped: isTyped(chord) });
  }
  return {
    /**
     * The commands of the pressed keys, those of the region first. `inText`: the focus is in a text field, where keys
     * without Mod and Alt type characters.
     */
    find(event: PressedKey, where: { region: Region | undefined; inText: boolean }): Command[] {
      const chord = pressedChord(event, isMac);
      if (chord === undefined) return [];
      const scopes = where.region === undefined ? [undefined] : [where.region, undefined];
      return scopes.flatMap((scope) => {
        const binding = bindings.get(nameOf(scope, chord));
        return binding && !(binding.isTyped && where.inText) ? [binding.command] : [];
      });
    },
  };
}
