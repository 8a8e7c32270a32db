/** The main agent's id is a literal in one file only, so that code that distinguishes agents stays in one file. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { MAIN_AGENT as MAIN_AGENT_OF_CLIENT } from '@service-code/client';
import { MAIN_AGENT } from '#schema/agents.ts';

const root = resolve(import.meta.dirname, '../../..');
const folders = ['server', 'routes', 'utils', 'plugins', 'web', 'clients'];

it('the literal occurs in one file of the server, and in one of the client', () => {
  expect(MAIN_AGENT_OF_CLIENT).toBe(MAIN_AGENT);
  const files = execFileSync('git', ['ls-files', ...folders], { cwd: root, encoding: 'utf8' }).split('\n');
  const sources = files.filter((name) => /\.(ts|vue)$/.test(name));
  expect(sources.length).toBeGreaterThan(200);
  // The kind of an agent, a member of a view and the role of an element have the same text; they are excluded.
  const literal = new RegExp(
    `(?<!(?:kind|type): (?:.*\\? \\()?|enum\\(\\[|Pick<\\w+, |:role="\\w+ \\? )'${MAIN_AGENT}'`,
  );
  const found = sources.filter((name) => literal.test(readFileSync(join(root, name), 'utf8')));
  expect(found).toEqual(['clients/typescript/src/types.ts', 'server/schema/agents.ts']);
});
