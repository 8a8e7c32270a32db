/** A short sound of two notes. */
const NOTES_HZ = [660, 880];
const NOTE_S = 0.12;
const VOLUME = 0.08;

let context: AudioContext | undefined;

/** Silent before the person has used the page, which browsers require. */
export function playSound(): void {
  context ??= new AudioContext();
  const volume = context.createGain();
  volume.gain.value = VOLUME;
  volume.connect(context.destination);
  for (const [at, frequency] of NOTES_HZ.entries()) {
    const note = context.createOscillator();
    note.frequency.value = frequency;
    note.connect(volume);
    note.start(context.currentTime + at * NOTE_S);
    note.stop(context.currentTime + (at + 1) * NOTE_S);
  }
}
