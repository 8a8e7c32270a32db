/** Names of skills: lookups, suggestions and descriptors. */
import { describe, expect, it } from 'vitest';
import { skillDescriptorSchema } from '#schema/rest/skill.ts';
import { skillDescriptors } from '#server/skills/descriptors.ts';
import { similarNames } from '#server/skills/similar-names.ts';
import { findSkill } from '#server/skills/skill.ts';
import { testCatalog, testSkill } from '#support/skills.ts';

const catalog = testCatalog(
  testSkill('write-goal'),
  testSkill('update-config'),
  testSkill('Release'),
  testSkill('release.notes'),
  testSkill('mcp'),
);

it('a skill is found by its name in any case', () => {
  expect(findSkill(catalog, 'RELEASE')?.name).toBe('Release');
  expect(findSkill(catalog, 'releases')).toBeUndefined();
});

describe('similar names', () => {
  it.each([
    ['wirte-goal', ['write-goal']],
    ['WRITE-GOAL', ['write-goal']],
    ['config', ['update-config']],
    ['relase', ['Release']],
    ['release', ['Release', 'release.notes']],
    ['release.note', ['Release', 'release.notes']],
    ['mpc', []],
    ['mc', ['mcp']],
    ['something else entirely', []],
    ['', []],
    ['x'.repeat(100_000), []],
  ])('of %s', (name, expected) => expect(similarNames(catalog, name)).toEqual(expected));

  it('are at most five', () => {
    const many = testCatalog(...Array.from({ length: 2000 }, (_, index) => testSkill(`skill-${index}`)));
    expect(similarNames(many, 'skill')).toHaveLength(5);
  });
});

it('descriptors are ordered by name, and have only what the file sets', () => {
  const descriptors = skillDescriptors(
    testCatalog(
      testSkill('b', { type: 'prompt', whenToUse: 'W', arguments: ['x'], plugin: { id: 'p' }, source: 'extra' }),
      testSkill('C', { disableModelInvocation: false }),
      testSkill('a', { disableModelInvocation: true, description: 'd'.repeat(1000) }),
    ),
  );
  expect(descriptors).toEqual([
    {
      name: 'a',
      description: 'd'.repeat(1000),
      path: testSkill('a').path,
      source: 'project',
      disable_model_invocation: true,
    },
    { name: 'b', description: 'About b.', path: testSkill('b').path, source: 'extra', type: 'prompt' },
    {
      name: 'C',
      description: 'About C.',
      path: testSkill('C').path,
      source: 'project',
      disable_model_invocation: false,
    },
  ]);
  for (const descriptor of descriptors) expect(skillDescriptorSchema.parse(descriptor)).toEqual(descriptor);
});
