/** Figures that vitest's table lacks: amounts per second, and the ratio of two of them. */

export interface Figure {
  /** Runs `work` a single time; it processes `amount` items. */
  measure(amount: number, work: () => Promise<void>): Promise<void>;
  /** Items per second of the median run. */
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
