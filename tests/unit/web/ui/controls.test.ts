import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const web = new URL('../../../../web/', import.meta.url);

/** The components and style sheets outside of `ui/`. */
const files = readdirSync(web, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(vue|css)$/.test(path) && !/^(ui|stories|dist|node_modules)\//.test(path))
  .map((path) => ({ path, text: readFileSync(new URL(path, web), 'utf8') }));

const PARTS = ['Button', 'IconButton', 'LineButton', 'ChoiceBox', 'Field', 'Select', 'Switch', 'Menu', 'Tabs', 'Tree'];

/** Where an element is, not its look. */
const PLACEMENT =
  /^(flex|align-self|justify-self|grid|order|margin|position|top|right|bottom|left|inset|width|height|min-|max-|z-index|align-content|--)/;
const HIDING = /^(display: none|visibility: |opacity: [01]$|pointer-events: )/;

const templateOf = (text: string) => text.slice(0, Math.max(0, text.indexOf('<style')));
const stylesOf = ({ path, text }: { path: string; text: string }) =>
  path.endsWith('.css') ? text : text.slice(text.includes('<style') ? text.indexOf('<style') : text.length);

/** The rules of a style sheet, each with the last part of its selectors, which is the styled element. */
function rulesOf(css: string) {
  const plain = css.replaceAll(/\/\*[^]*?\*\//g, '');
  return [...plain.matchAll(/([^{}]+)\{([^{}]*)\}/g)].map(([, selectors = '', body = '']) => ({
    selectors: selectors.trim(),
    styled: splitOutside(selectors, ',').map((selector) => splitOutside(selector.trim(), ' >+~').at(-1) ?? ''),
    declarations: body
      .split(';')
      .map((line) => line.trim())
      .filter(Boolean),
  }));
}

/** Splits at the given characters outside of parentheses and brackets. */
function splitOutside(text: string, separators: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if ('(['.includes(character)) depth += 1;
    if (')]'.includes(character)) depth -= 1;
    if (depth === 0 && separators.includes(character)) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.filter((part) => part.trim() !== '');
}

/** Classes that the template puts on a part of `ui/`. */
function classesOnParts(template: string): string[] {
  const tags = template.matchAll(new RegExp(`<(?:${PARTS.join('|')})\\b((?:"[^"]*"|[^">])*)>`, 'g'));
  return [...tags].flatMap(([, attributes = '']) => /(?:^|\s)class="([^"]*)"/.exec(attributes)?.[1]?.split(' ') ?? []);
}

it('no native control is outside of ui/, except a hidden choice of files', () => {
  const control = /<(button|select|textarea|dialog|input(?![^>]*type="file"[^>]*\bhidden\b))\b|\spopover(=|>|\s)/;
  expect(files.filter(({ text }) => control.test(templateOf(text) || text)).map(({ path }) => path)).toEqual([]);
});

it('no style outside of ui/ is one of a control', () => {
  const control = /^(button|input|select|textarea|dialog)\b|\.ui-[\w-]/;
  const found = files.flatMap((file) =>
    rulesOf(stylesOf(file))
      .filter(({ styled }) => styled.some((last) => control.test(last)))
      .map(({ selectors }) => `${file.path}: ${selectors}`),
  );
  expect(found).toEqual([]);
});

it('a class on a part of ui/ only places it', () => {
  const found = files.flatMap((file) => {
    const classes = new Set(classesOnParts(templateOf(file.text)));
    return rulesOf(stylesOf(file)).flatMap(({ styled, declarations }) => {
      const name = styled
        .flatMap((last) => [...last.matchAll(/\.([\w-]+)/g)])
        .find(([, name]) => classes.has(name ?? ''));
      if (!name) return [];
      const others = declarations.filter((line) => !PLACEMENT.test(line) && !HIDING.test(line));
      return others.map((line) => `${file.path}: .${name[1]} { ${line} }`);
    });
  });
  expect(found).toEqual([]);
});
