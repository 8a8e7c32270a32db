/** Front matter of files of any author: the same limits and errors for agents, skills and commands. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { parseAgentFile } from '#server/agent/profiles/agent-file.ts';
import { parseFrontMatter, splitFrontMatter } from '#server/files/front-matter.ts';
import { parseCommandFile } from '#server/skills/command-file.ts';
import { parseFlatSkill, parseSkillFolder } from '#server/skills/skill-file.ts';

const file = (head: string, body = 'You help.') => `---\n${head}\n---\n${body}\n`;

const HEAD = 'name: a\ndescription: ';

/** Entities that refer to each other: nine times nine times nine … */
function laughs(): string {
  const lines = ['a: &a [x, x, x, x, x, x, x, x, x]'];
  for (const [one, next] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg', 'gh'].map((pair) => [...pair])) {
    lines.push(`${next}: &${next} [${Array.from({ length: 9 }, () => `*${one}`).join(', ')}]`);
  }
  return lines.join('\n');
}

describe.each([
  ['an agent', (source: string) => parseAgentFile(source, 'of-the-file')],
  ['a skill', parseSkillFolder],
  ['a flat skill', (source: string) => parseFlatSkill(source, 'of-the-file')],
  ['a command', parseCommandFile],
])('the front matter of %s', (_kind, parse: (source: string) => Promise<{ name?: string; description: string }>) => {
  it.each([
    ['of another language', '---js\nname: a\ndescription: D\n---\nYou help.', 'no YAML'],
    ['without an end', '---\nname: a\ndescription: D\nYou help.', 'has no end'],
    ['that is a list', file('- name: a\n- description: D'), 'no mapping'],
    ['that is a text', file('description'), 'no mapping'],
    ['that is no YAML', file('name: a\ndescription: [D'), 'no YAML'],
    ['with an unknown alias', file('name: a\ndescription: *D'), 'no YAML'],
    ['with aliases without end', file(`${laughs()}\nname: a\ndescription: D`), 'no YAML'],
    ['of 64 KiB and one byte', file(HEAD + 'x'.repeat(65_537 - HEAD.length)), 'too large'],
    ['with nesting without end', file(`name: a\ndescription: ${'['.repeat(30_000)}`), 'more than a mapping'],
    ['with nesting on a line', file('- '.repeat(30_000)), 'more than a mapping'],
    [
      'with nesting over lines',
      file(Array.from({ length: 350 }, (_, n) => `${' '.repeat(n)}a:`).join('\n')),
      'more than a mapping',
    ],
    [
      'with keys without end',
      file(Array.from({ length: 7000 }, (_, n) => `k${n}: 1`).join('\n')),
      'more than a mapping',
    ],
    ['with entries without end', file(`description: [${'a,'.repeat(30_000)}]`), 'more than a mapping'],
    ['with a description that is a list', file('name: a\ndescription: [D]'), 'description'],
    ['with a name that is a number', file('name: 1\ndescription: D'), 'name'],
  ])('%s is refused', async (_what, source, message) => {
    await expect(parse(source)).rejects.toThrow(message);
  });

  it('of exactly 64 KiB is parsed', async () => {
    const { description } = await parse(file(HEAD + 'x'.repeat(65_536 - HEAD.length)));
    expect(description).toHaveLength(65_536 - HEAD.length);
  });

  it('may have the line ends and the byte order mark of other systems, and bytes of another encoding', async () => {
    const source = `\uFEFF${file('name: a\ndescription: D')}`.replaceAll('\n', '\r\n');
    expect(await parse(source)).toMatchObject({ name: 'a', description: 'D' });
    const latin1 = Buffer.from(file('name: a\ndescription: Größe'), 'latin1').toString('utf8');
    expect(await parse(latin1)).toMatchObject({ name: 'a', description: 'Gr\uFFFD\uFFFDe' });
  });

  it('executes no code and changes no prototype', async () => {
    const code = 'name: a\ndescription: !!js/function "function () { throw 1 }"\ntools: !!js/regexp /x/';
    expect(await parse(file(code)).then(() => '', String)).not.toContain('1');
    await parse(
      file('name: a\ndescription: D\n__proto__: { polluted: true }\nconstructor: { prototype: { polluted: true } }'),
    );
    expect({}).not.toHaveProperty('polluted');
  });

  it('is parsed at the deepest nesting allowed', async () => {
    const lines = [`a: ${'- '.repeat(29)}`, ...Array.from({ length: 100 }, (_, n) => `${' '.repeat(n + 1)}b:`)];
    for (const head of [
      `name: a\ndescription: D\nx: ${'['.repeat(100)}${']'.repeat(100)}`,
      `name: a\ndescription: D\nx: ${'{a: '.repeat(30)}`,
      lines.join('\n'),
    ]) {
      const outcome = await parse(file(head)).then(() => '', String);
      expect(outcome).not.toContain('stack');
    }
  });
});

describe('a file is split', () => {
  it.each([
    ['without front matter', 'Text.\n---\nMore.', { head: undefined, body: 'Text.\n---\nMore.' }],
    ['with a byte order mark only', '\uFEFFText.', { head: undefined, body: 'Text.' }],
    ['with empty front matter', '---\n---\nText.', { head: '', body: 'Text.' }],
    ['without a body', '---\na: 1\n---', { head: 'a: 1', body: '' }],
    ['at the first closing line', '---\na: 1\n--- \t\nText.\n---\n', { head: 'a: 1', body: 'Text.\n---\n' }],
    ['with a rule of more dashes', '----\nText.', { head: undefined, body: '----\nText.' }],
    ['empty', '', { head: undefined, body: '' }],
  ])('%s', (_what, source, parts) => expect(splitFrontMatter(source)).toEqual(parts));
});

it('errors name the member', async () => {
  const schema = z.object({ a: z.object({ b: z.string() }) });
  await expect(parseFrontMatter('a: {b: 1}', schema)).rejects.toThrow(/^a\.b: /);
});
