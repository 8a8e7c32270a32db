/** The shipped skills: their descriptors, and that their texts are valid where they name something of this product. */
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TOOL_ORDER } from '#server/agent/profiles/built-in.ts';
import { expandSkill } from '#server/skills/expand.ts';
import { skillListing } from '#server/skills/listing.ts';
import { shippedSkills } from '#server/skills/shipped.ts';
import { domainSchemas } from '#schema/config/config.ts';
import { testCatalog } from '#support/skills.ts';

const root = resolve(import.meta.dirname, '../../..');

it('are seven, with their paths and switches', () => {
  expect(shippedSkills.map(({ name, path, disableModelInvocation: off }) => [name, path, off])).toEqual([
    ['import-from-other-agents', 'builtin://import-from-other-agents', true],
    ['mcp-config', 'builtin://mcp-config', true],
    ['sub-skill', 'builtin://sub-skill', true],
    ['sub-skill.consolidate', 'builtin://sub-skill/consolidate', true],
    ['sub-skill.review', 'builtin://sub-skill/review', true],
    ['update-config', 'builtin://update-config', undefined],
    ['write-goal', 'builtin://write-goal', undefined],
  ]);
  for (const skill of shippedSkills) {
    expect(skill).toMatchObject({ type: 'inline', kind: 'inline', source: 'builtin', arguments: [] });
    expect(skill.nested).toBe(skill.name.includes('.'));
    expect(skill.body.length).toBeGreaterThan(500);
  }
});

it('each have a file, and each file is one', async () => {
  const files = await readdir(join(root, 'server/skills/shipped'));
  expect(files.toSorted()).toEqual(shippedSkills.map(({ name }) => `${name.replaceAll('.', '-')}.md`).toSorted());
});

it('are listed only where the model may activate them', () => {
  const { text } = skillListing(testCatalog(...shippedSkills));
  expect([...text.matchAll(/^- (\S+)/gm)].map(([, name]) => name)).toEqual(['update-config', 'write-goal']);
});

describe.each(shippedSkills.map((skill) => [skill.name, skill] as const))('the text of %s', (_name, skill) => {
  const expanded = (args: string) =>
    expandSkill(skill, { args, sessionId: 'session-of-the-test', trigger: 'user-slash' }).text;

  it('names placeholders only as literals, with and without arguments', () => {
    expect(expanded('')).not.toContain('session-of-the-test');
    expect(expanded('').split(skill.dir)).toHaveLength(2);
    expect(expanded('').split('args=""')).toHaveLength(2);
    // Arguments are only appended.
    expect(expanded('one two').replace('\n\nARGUMENTS: one two', '').replace('one two', '')).toBe(expanded(''));
  });

  it('names only tools, skills and endpoints that exist', async () => {
    const called = [
      ...skill.body.matchAll(
        /\b(CreateGoal|GetGoal|SetGoalBudget|UpdateGoal|AskUserQuestion|TodoList|FetchURL|WebSearch)\b/g,
      ),
    ];
    for (const [name] of called) expect(TOOL_ORDER).toContain(name);
    const names = shippedSkills.map(({ name }) => name);
    for (const [, name = ''] of skill.body.matchAll(/`((?:sub-skill|mcp-config\b(?!-))[a-z.-]*)`/g)) {
      expect(names).toContain(name);
    }
    const routes = (await readdir(join(root, 'routes'), { recursive: true })).map((path) =>
      path
        .replace(/(\/index)?\.(get|post|put|patch|delete)\.ts$/, '')
        .replace(/\/actions\/([a-z_-]+)$/, ':$1')
        .replaceAll(/\[[^\]]+\]/g, '{}'),
    );
    for (const [, path = ''] of skill.body.matchAll(/`(?:GET|POST|PUT|PATCH|DELETE)[^`]*? \/(api\/[^`\s]+)`/g)) {
      expect(routes).toContain(path.replaceAll(/\{[^}]+\}/g, '{}'));
    }
  });
});

it('the keys of update-config exist in the configuration', () => {
  const body = shippedSkills.find(({ name }) => name === 'update-config')?.body ?? '';
  const [, keys = ''] = body.split('## Keys');
  const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const known = new Set<string>(Object.keys(domainSchemas).map(snake));
  // The section `[task]` of the file is `background` on the wire.
  known.add('task');
  const sections = [...keys.matchAll(/`\[+([a-z_]+)/g)].map(([, name = '']) => name);
  expect(sections.length).toBeGreaterThan(10);
  for (const name of sections) expect(known).toContain(name);
  for (const [, name = ''] of keys.matchAll(/`((?:default|extra|merge|builtin|auto_session)_[a-z_]+)`/g)) {
    expect(known).toContain(name);
  }
});
