// Prints one line per figure: value, comparison, aim, and whether it is met.
import { median, ratio } from './rounds.mjs';

const number = (value) => value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3);

export function createReport(print) {
  const counts = { met: 0, missed: 0, open: 0 };

  /**
   * Prints a figure. `now` and `before` are samples by round; `before` is undefined without an earlier build. `against`
   * names another series that serves as the unit. The aim applies to the ratio to `of` ('before' or the name in
   * `against`), or, without `of`, to the value itself; a figure without an aim is only printed.
   */
  function line({ name, unit, now, before, against, aim }) {
    const told = [];
    const ratios = {};
    if (before) {
      ratios.before = ratio(now, before);
      told.push(`${number(ratios.before)} × before (${number(median(before))})`);
    }
    if (against) {
      ratios[against.name] = ratio(now, against.values);
      told.push(`${number(ratios[against.name])} × ${against.name} (${number(median(against.values))})`);
    }
    let verdict = '';
    if (aim) {
      const measured = aim.judged === false ? undefined : aim.of === undefined ? median(now) : ratios[aim.of];
      const bound = aim.most ?? aim.least;
      const text = `${aim.most === undefined ? '≥' : '≤'} ${bound}${aim.of === undefined ? ` ${unit}` : ` × ${aim.of}`}`;
      const met = measured !== undefined && (aim.most === undefined ? measured >= bound : measured <= bound);
      counts[measured === undefined ? 'open' : met ? 'met' : 'missed'] += 1;
      verdict = `aim ${text}: ${measured === undefined ? 'not judged' : met ? 'met' : 'NOT MET'}`;
    }
    const value = `${number(median(now))} ${unit}`.padStart(14);
    print(`${name.padEnd(46)}${value}   ${told.join(', ').padEnd(56)} ${verdict}`.trimEnd());
  }

  return { line, note: (text) => print(`  ${text}`), counts };
}
