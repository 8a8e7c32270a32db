/** Figures that vitest's table does not show: amounts per second, and the ratio of two of them. */

export interface Figure {
  /** Runs `work` once and counts its `amount` of things. */
  measure(amount: number, work: () => Promise<void>): Promise<void>;
  /** Of the median run. */
  perSecond(): number;
}

/** Collects all runs of one benchmark. */
export function createFigure(): Figure {
  const rates: number[] = [];
  return {
    async measure(amount, work) {
      const begun = performance.now();
      await work();
      rates.push((1000 * amount) / (performance.now() - begun));
    },
    perSecond: () => rates.toSorted((a, b) => a - b)[Math.floor(rates.length / 2)] ?? Number.NaN,
  };
}

/** Writes one line of the report. */
export function report(name: string, value: number, unit: string): void {
  const digits = value < 100 ? 2 : 0;
  process.stdout.write(`  ${name.padEnd(60)}${value.toFixed(digits).padStart(10)} ${unit}\n`);
}
