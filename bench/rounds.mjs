// Alternating rounds, so that variations of the machine affect all builds alike.

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Ratio of two series, round by round. */
export const ratio = (values, others) => median(values.map((value, round) => value / others[round]));

/** Slow measures run fewer rounds, but at least as many as a median needs. */
const ENOUGH_MS = 25_000;
const LEAST_ROUNDS = 3;

/**
 * Measures each of `all` in each round, in reverse order in every second one; returns the samples by index:
 * `[[of the first, by round], …]`. Measures that take longer than `enoughMs` run fewer rounds.
 */
export async function inTurn(rounds, all, measure, enoughMs = ENOUGH_MS) {
  const samples = all.map(() => []);
  const places = all.map((_, place) => place);
  const begun = performance.now();
  for (let round = 0; round < rounds; round += 1) {
    if (round >= LEAST_ROUNDS && performance.now() - begun > enoughMs) break;
    for (const place of round % 2 === 0 ? places : places.toReversed()) {
      samples[place].push(await measure(all[place], round));
    }
  }
  return samples;
}

/** Calls `work` `count` times, at most `width` concurrently. */
export async function inParallel(count, width, work) {
  let left = count;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
}
