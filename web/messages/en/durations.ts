/** Durations in texts. */

function parts(ms: number) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  return { seconds, minutes, hours: Math.floor(minutes / 60) };
}

/** `8 s`, `2 min`, `1 h 5 min`. */
export function roughly(ms: number): string {
  const { seconds, minutes, hours } = parts(ms);
  if (minutes === 0) return `${seconds} s`;
  return hours === 0 ? `${minutes} min` : `${hours} h ${minutes % 60} min`;
}

/** `8 s`, `2 min 5 s`, `1 h 5 min`. */
export function precisely(ms: number): string {
  const { seconds, minutes, hours } = parts(ms);
  return minutes === 0 || hours > 0 || seconds % 60 === 0 ? roughly(ms) : `${minutes} min ${seconds % 60} s`;
}
