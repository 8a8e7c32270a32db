/** Errors in views are drawn by the part `Problem`: by their code, with the message of the server below. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const web = new URL('../../../../web/', import.meta.url);
const components = readdirSync(web, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.vue') && !/^(ui|stories|dist)\//.test(path))
  .map((path) => ({ path, text: readFileSync(new URL(path, web), 'utf8') }));

it('no view takes the message of an error for its text', () => {
  expect(components.filter(({ text }) => /\breasonOf\b/.test(text)).map(({ path }) => path)).toEqual([]);
});

it('no template writes a failure as text', () => {
  const written =
    /\{\{\s*(?:failure|error|unreadable)(?:\.message)?(?:\s*\|\|[^}]*)?\s*\}\}|:text="(?:failure|unreadable)"/;
  expect(components.filter(({ text }) => written.test(text)).map(({ path }) => path)).toEqual([]);
});
