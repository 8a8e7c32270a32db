import { readdirSync, readFileSync } from 'node:fs';
import { parse, toGamut, wcagContrast } from 'culori';
import { describe, expect, it } from 'vitest';

/** A browser displays the nearest colour of its gamut. */
const displayed = toGamut('rgb', 'oklch');
const css = readFileSync(new URL('../../../../web/styles/tokens.css', import.meta.url), 'utf8');

/** The declarations of the first rule with this selector. */
function declarationsOf(selector: string): Map<string, string> {
  const rule = css.slice(css.indexOf(`${selector} {`));
  const body = rule.slice(0, rule.indexOf('\n}'));
  return new Map(
    [...body.matchAll(/^ {2}(--[\w-]+):\s*([^;]+);/gm)].map(([, name, value]) => [name ?? '', value ?? '']),
  );
}

const base = declarationsOf(':root');
const contrast = new Map([...base, ...declarationsOf(":root[data-theme='contrast']")]);

const themes = [
  { name: 'light', tokens: base, side: 0 },
  { name: 'dark', tokens: base, side: 1 },
  { name: 'high contrast, light', tokens: contrast, side: 0 },
  { name: 'high contrast, dark', tokens: contrast, side: 1 },
];

const surfaces = ['surface-0', 'surface-1', 'surface-2', 'surface-3'];
const states = ['hover', 'active', 'selected'];
const tones = ['good', 'bad', 'attention', 'info'];
const syntax = ['comment', 'keyword', 'string', 'number', 'title'].map((name) => `syntax-${name}`);
const diffs = ['diff-added', 'diff-added-word', 'diff-removed', 'diff-removed-word'];
const ansi = Array.from({ length: 16 }, (_, index) => `ansi-${index}`);

const every = (tops: readonly string[], grounds: readonly string[]) =>
  tops.flatMap((top) => grounds.map((ground) => [top, ground] as const));

/** The pairs in use as text on a ground. */
const texts = [
  ...every(['text', 'text-soft', 'text-faint'], [...surfaces, ...states]),
  ...every(['text'], ['accent-tint', 'marked', ...diffs, ...tones.map((tone) => `${tone}-tint`)]),
  ...every(['text-soft'], ['diff-added', 'diff-removed', ...tones.map((tone) => `${tone}-tint`)]),
  ...every(['accent'], [...surfaces, 'hover', 'selected', 'accent-tint']),
  ...every(['accent-text'], ['accent', 'accent-hover']),
  ...every(tones, [...surfaces, 'hover', 'selected']),
  ...tones.flatMap((tone) => [[tone, `${tone}-tint`] as const, ['on-solid', `${tone}-solid`] as const]),
  ...every(syntax, ['surface-0', 'surface-1', 'surface-2', ...diffs]),
  ...every(ansi, ['surface-0']),
];

/** The pairs in use as marks: borders of controls, rings, icons and bars. */
const marks = [
  ...every(['line-strong'], [...surfaces, 'hover']),
  ...every(['accent'], [...surfaces, ...states]),
  ...every(
    tones.map((tone) => `${tone}-solid`),
    surfaces,
  ),
];

describe.each(themes)('theme $name', ({ tokens, side }) => {
  function colourOf(name: string) {
    const value = tokens.get(`--${name}`) ?? '';
    const [light, dark] = /^light-dark\((.*?\)), (.*)\)$/.exec(value)?.slice(1) ?? [value, value];
    const colour = parse((side === 0 ? light : dark) ?? '');
    if (!colour) throw new Error(`--${name} is no colour: ${value}`);
    return displayed(colour);
  }

  const tooLow = (pairs: readonly (readonly [string, string])[], least: number) =>
    pairs
      .map(([top, ground]) => ({ pair: `${top} on ${ground}`, ratio: wcagContrast(colourOf(top), colourOf(ground)) }))
      .filter(({ ratio }) => ratio < least)
      .map(({ pair, ratio }) => `${pair}: ${ratio.toFixed(2)}`);

  it('has a contrast of 4.5 for each text', () => {
    expect(tooLow(texts, 4.5)).toEqual([]);
  });

  it('has a contrast of 3 for each mark', () => {
    expect(tooLow(marks, 3)).toEqual([]);
  });
});

describe('the pairs in use', () => {
  const web = new URL('../../../../web/', import.meta.url);
  const sheets = readdirSync(web, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(vue|css)$/.test(path) && !/^(dist|stories|node_modules)\//.test(path))
    .map((path) => ({ path, text: readFileSync(new URL(path, web), 'utf8') }))
    .map(({ path, text }) => ({ path, css: path.endsWith('.css') ? text : (text.split('<style')[1] ?? '') }));

  /** The token of a name: earlier names are aliases. */
  const tokenOf = (name: string): string => {
    const alias = /^var\(--([\w-]+)\)$/.exec(base.get(`--${name}`) ?? '')?.[1];
    return alias === undefined ? name : tokenOf(alias);
  };
  const used = (body: string, members: string) => {
    const [, name] = new RegExp(`(?:^|[\\s;])(?:${members}):\\s*var\\(--([\\w-]+)\\)`).exec(body) ?? [];
    return name === undefined ? undefined : tokenOf(name);
  };
  const rules = sheets.flatMap(({ path, css }) =>
    [...css.matchAll(/\{([^{}]*)\}/g)].map(([, body = '']) => ({
      path,
      text: used(body, 'color'),
      ground: used(body, 'background|background-color'),
    })),
  );
  const listed = new Set([...texts, ...marks].map(([top, ground]) => `${top} on ${ground}`));

  it('of a text and a ground in the same rule are all listed', () => {
    const found = rules.filter(({ text, ground }) => text !== undefined && ground !== undefined);
    expect(found.length).toBeGreaterThan(10);
    expect(found.map(({ text, ground }) => `${text} on ${ground}`).filter((pair) => !listed.has(pair))).toEqual([]);
  });

  it('of each text colour have a surface', () => {
    const tops = new Set(rules.flatMap(({ text }) => text ?? []));
    expect([...tops].filter((top) => !texts.some(([listed]) => listed === top))).toEqual([]);
  });

  /** They separate only, and carry no text. */
  const DECORATION = ['line', 'backdrop'];

  it('of each ground have its text, or are those of a mark on a surface', () => {
    const grounds = new Set(rules.flatMap(({ ground }) => ground ?? []));
    const pairs = [...texts, ...marks];
    const isListed = (ground: string) => pairs.some((pair) => pair.includes(ground));
    expect([...grounds].filter((ground) => !isListed(ground) && !DECORATION.includes(ground))).toEqual([]);
  });
});
