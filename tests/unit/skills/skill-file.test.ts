/** Files of skills and commands: forms, keys and defaults. Errors of the front matter are in `files/front-matter.test.ts`. */
import { describe, expect, it } from 'vitest';
import { parseCommandFile } from '#server/skills/command-file.ts';
import { parseFlatSkill, parseSkillFolder } from '#server/skills/skill-file.ts';

const file = (head: string, body = 'Do it.') => `---\n${head}\n---\n${body}\n`;
const skill = (more: string, body?: string) => parseSkillFolder(file(`name: a\ndescription: D\n${more}`, body));
const plain = { name: 'a', description: 'D', kind: 'inline', arguments: [], body: 'Do it.', hasSubSkills: false };

describe('a SKILL.md', () => {
  it('has name, description and body', async () => {
    expect(await skill('')).toEqual(plain);
  });

  it('may have all members', async () => {
    const more = [
      'type: prompt',
      'when-to-use: " When it fits. "',
      'disable-model-invocation: false',
      'arguments: [who, what-for]',
      'has-sub-skill: true',
      'unknown: 1',
    ].join('\n');
    expect(await skill(more, '\n  \n  - one\n\n---\ntwo \n')).toEqual({
      ...plain,
      type: 'prompt',
      whenToUse: 'When it fits.',
      disableModelInvocation: false,
      arguments: ['who', 'what-for'],
      body: '  - one\n\n---\ntwo',
      hasSubSkills: true,
    });
  });

  it.each([
    ['when-to-use: W', { whenToUse: 'W' }],
    ['when_to_use: W', { whenToUse: 'W' }],
    ['whenToUse: W', { whenToUse: 'W' }],
    ['when-to-use: " "', {}],
    ['when-to-use:', {}],
    ['disable-model-invocation: true', { disableModelInvocation: true }],
    ['disableModelInvocation: true', { disableModelInvocation: true }],
    ['arguments: who  what', { arguments: ['who', 'what'] }],
    ['arguments: ""', {}],
    ['arguments:', {}],
    ['type: inline', { type: 'inline' }],
    ['type: flow', { type: 'flow', kind: 'flow' }],
    ['type: reference', { type: 'reference', kind: 'reference' }],
    ['has-sub-skill: false', {}],
  ])('may have the key in each spelling: %s', async (more, expected) => {
    expect(await skill(more)).toEqual({ ...plain, ...expected });
  });

  it.each([
    ['without front matter', 'Do it.', 'no front matter'],
    ['without a name', file('description: D'), 'name'],
    ['with a blank name', file('name: " "\ndescription: D'), 'name'],
    ['with a name of two lines', file('name: "a\\nb"\ndescription: D'), 'name'],
    ['with a name of 201 characters', file(`name: ${'x'.repeat(201)}\ndescription: D`), 'name'],
    ['without a description', file('name: a'), 'description'],
    ['with a blank description', file('name: a\ndescription: " "'), 'description'],
    ['of an unknown type', file('name: a\ndescription: D\ntype: tool'), 'type'],
    ['with numbers as arguments', file('name: a\ndescription: D\narguments: [1]'), 'arguments'],
    ['with numeric names of arguments', file('name: a\ndescription: D\narguments: who 1'), 'arguments'],
    ['with names of arguments that contain blanks', file('name: a\ndescription: D\narguments: [a b]'), 'arguments'],
    ['with a mapping as arguments', file('name: a\ndescription: D\narguments: {a: b}'), 'arguments'],
    ['with a switch that is no boolean', file('name: a\ndescription: D\ndisable-model-invocation: "yes"'), 'disable'],
    ['with sub-skills that are no boolean', file('name: a\ndescription: D\nhas-sub-skill: 1'), 'has-sub-skill'],
  ])('%s is refused', async (_what, source, message) => {
    await expect(parseSkillFolder(source)).rejects.toThrow(message);
  });

  it.each(['x/y', 'x:y', '<x>', 'UPPER', 'zwei Wörter', '日本'])('may have the name %s', async (name) => {
    expect(await parseSkillFolder(file(`name: "${name}"\ndescription: D`))).toMatchObject({ name });
  });

  it('may be without a body', async () => {
    expect(await parseSkillFolder('---\nname: a\ndescription: D\n---\n\n')).toEqual({ ...plain, body: '' });
    expect(await parseSkillFolder('---\nname: a\ndescription: D\n---')).toEqual({ ...plain, body: '' });
  });
});

describe('a flat file', () => {
  it('is named by its file and described by its first line', async () => {
    const source = '\uFEFF\r\n \r\n  # Do it  \r\nand more\r\n';
    expect(await parseFlatSkill(source, 'stem')).toEqual({
      ...plain,
      name: 'stem',
      description: '# Do it',
      body: '  # Do it  \r\nand more',
    });
  });

  it('may have front matter, each member of which is optional', async () => {
    expect(await parseFlatSkill(file('name: other\ndescription: E\ntype: flow'), 'stem')).toEqual({
      ...plain,
      name: 'other',
      description: 'E',
      type: 'flow',
      kind: 'flow',
    });
    expect(await parseFlatSkill(file('arguments: who'), 'stem')).toEqual({
      ...plain,
      name: 'stem',
      description: 'Do it.',
      arguments: ['who'],
    });
  });

  it('is described by at most 240 characters, without half a character at the cut', async () => {
    expect((await parseFlatSkill('x'.repeat(240), 'a')).description).toBe('x'.repeat(240));
    expect((await parseFlatSkill('x'.repeat(241), 'a')).description).toBe(`${'x'.repeat(239)}…`);
    expect((await parseFlatSkill(`${'x'.repeat(238)}😀xx`, 'a')).description).toBe(`${'x'.repeat(238)}…`);
  });

  it.each([
    ['is empty', ''],
    ['is blank', '\uFEFF \r\n\t'],
    ['has empty front matter only', '---\n---\n'],
  ])('that %s is refused', async (_what, source) => {
    await expect(parseFlatSkill(source, 'a')).rejects.toThrow(/empty|no mapping/);
  });
});

describe('a command', () => {
  it('is described by its front matter, else by its first line', async () => {
    expect(await parseCommandFile(file('name: x\ndescription: D\ntype: any'))).toEqual({
      name: 'x',
      description: 'D',
      body: 'Do it.',
    });
    expect(await parseCommandFile('\n# Title\n\nText.\n')).toEqual({
      description: '# Title',
      body: '# Title\n\nText.',
    });
    expect(await parseCommandFile('---\ndescription: D\n---\n')).toEqual({ description: 'D', body: '' });
  });

  it('that is empty is refused', async () => {
    await expect(parseCommandFile(' \n')).rejects.toThrow('empty');
  });
});
