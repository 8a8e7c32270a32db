/** Work that waits while a person types: it runs after the frame of a key, so that the next one is painted without delay. */

/** A person who has pressed no key for this long does not type. */
const PAUSE_MS = 300;
/** The next key is not expected for this long after the frame of the last one. */
const ROOM_MS = 30;

let pressedAt = -Infinity;
let paintedAt = -Infinity;
const waiting = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | undefined;

function runWaiting(): void {
  clearTimeout(timer);
  const works = [...waiting];
  waiting.clear();
  for (const work of works) work();
}

window.addEventListener(
  'keydown',
  () => {
    pressedAt = performance.now();
    requestAnimationFrame(() =>
      setTimeout(() => {
        paintedAt = performance.now();
        runWaiting();
      }),
    );
  },
  true,
);

/** Runs `work` now, or after the frame of the next key while a person types. */
export function whenNotTyping(work: () => void): void {
  const now = performance.now();
  const hasRoom = paintedAt >= pressedAt && now - paintedAt < ROOM_MS;
  if (now - pressedAt > PAUSE_MS || hasRoom) return work();
  waiting.add(work);
  clearTimeout(timer);
  timer = setTimeout(runWaiting, pressedAt + PAUSE_MS - now);
}
