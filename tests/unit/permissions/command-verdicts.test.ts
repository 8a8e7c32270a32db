/** The real policy's decision in manual mode for every line of the corpus, under each of its rule sets. */
import { expect, test } from 'vitest';
import { createServerHome } from '#server/home/server-home.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { openPolicy } from '#support/policy.ts';
import { readCorpus } from './command-line/corpus.ts';
import { rule } from './decide.ts';

/** The corpus's workspace; it need not exist. */
const cwd = '/work/project';
const places = {
  runtime: createLocalRuntime(),
  cwd,
  additionalDirs: async () => [],
  readableDirs: () => Promise.resolve([]),
  sessionDir: '/home/sessions/a/b',
  home: createServerHome('/home'),
};
const policy = openPolicy();
const { ruleSets, cases } = readCorpus();
const VERDICTS = { approve: 'allow', ask: 'ask', deny: 'deny' };

test('the corpus is large and every line has a verdict for every rule set', () => {
  expect(cases.length).toBeGreaterThanOrEqual(300);
  const names = ruleSets.map(({ name }) => name).toSorted();
  for (const { verdicts } of cases) expect(Object.keys(verdicts).toSorted()).toEqual(names);
});

test.each(ruleSets)('$name', async ({ name, rules: listed }) => {
  const rules = listed.map(({ decision, pattern }) => rule(decision, pattern === '**' ? 'Bash' : `Bash(${pattern})`));
  const found: [string, string][] = [];
  for (const { line } of cases) {
    const { kind } = await policy.decide(
      {
        toolName: 'Bash',
        agentId: 'main',
        permission: 'ask',
        effects: 'any',
        subject: { text: line, match: 'command', directory: cwd },
        accesses: [{ kind: 'all' }],
      },
      { mode: 'manual', rules, remembered: [], places },
    );
    found.push([line, VERDICTS[kind]]);
  }
  expect(found).toEqual(cases.map(({ line, verdicts }) => [line, verdicts[name]]));
});
