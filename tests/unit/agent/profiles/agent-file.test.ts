/** Valid agent files, and the errors of invalid ones. */
import { describe, expect, it } from 'vitest';
import { parseAgentFile } from '#server/agent/profiles/agent-file.ts';

const file = (head: string, body = 'You help.') => `---\n${head}\n---\n${body}\n`;
const parsed = (head: string, body?: string, name = 'of-the-file') => parseAgentFile(file(head, body), name);
const plain = { name: 'of-the-file', description: 'D', override: false, tools: '*', template: 'You help.' };

describe('is parsed', () => {
  it('with the defaults', async () => {
    expect(await parsed('description: D')).toEqual(plain);
  });

  it('with all members', async () => {
    const head = [
      'name: re-viewer2',
      'description: " D "',
      'whenToUse: W',
      'override: true',
      'tools: [Read, " Grep "]',
      'disallowedTools: Bash, Write,',
      'subagents: []',
      'unknown: 1',
    ].join('\n');
    expect(await parsed(head, '\n\n# You\n\n---\n${cwd}\n')).toEqual({
      name: 're-viewer2',
      description: 'D',
      whenToUse: 'W',
      override: true,
      tools: ['Read', 'Grep'],
      disallowedTools: ['Bash', 'Write'],
      subagents: [],
      template: '# You\n\n---\n${cwd}',
    });
  });

  it('from other systems: line ends and a byte order mark', async () => {
    expect(
      await parseAgentFile(`\uFEFF${file('description: D\ntools: "*"\nsubagents: "*"').replaceAll('\n', '\r\n')}`, 'a'),
    ).toEqual({
      ...plain,
      name: 'a',
      subagents: '*',
    });
  });
});

describe('is refused', () => {
  const laughs = ['a: &a [x, x, x, x, x, x, x, x, x]'];
  for (const [one, next] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg', 'gh'].map((pair) => [...pair])) {
    laughs.push(`${next}: &${next} [${Array.from({ length: 9 }, () => `*${one}`).join(', ')}]`);
  }
  it.each([
    ['without front matter', 'You help.', 'front matter'],
    ['with front matter that does not end', '---\ndescription: D\nYou help.', 'front matter'],
    ['with empty front matter', '---\n---\nYou help.', 'no mapping'],
    ['with a list', file('- description: D'), 'no mapping'],
    ['without a description', file('name: a'), 'description'],
    ['with a blank description', file('description: " "'), 'description'],
    ['with a name of another form', file('name: Re_Viewer\ndescription: D'), 'name'],
    ['with tools that are no list', file('description: D\ntools: 3'), 'tools'],
    ['with an override that is no boolean', file('description: D\noverride: "yes"'), 'override'],
    ['without a prompt', file('description: D', ' \n'), 'no prompt'],
    ['that is no YAML', file('description: [D'), 'no YAML'],
    ['with aliases without end', file(`${laughs.join('\n')}\ndescription: D`), 'no YAML'],
    ['with front matter without end', file(`description: ${'x'.repeat(70_000)}`), 'too large'],
    ['with nesting without end', file(`description: ${'['.repeat(30_000)}`), 'more than a mapping'],
    ['with nesting on a line', file('- '.repeat(30_000)), 'more than a mapping'],
    [
      'with nesting over lines',
      file(Array.from({ length: 350 }, (_, n) => `${' '.repeat(n)}a:`).join('\n')),
      'more than',
    ],
    ['with keys without end', file(Array.from({ length: 7000 }, (_, n) => `k${n}: 1`).join('\n')), 'more than'],
    ['with entries without end', file(`description: [${'a,'.repeat(30_000)}]`), 'more than a mapping'],
  ])('%s', async (_what, source, message) => {
    await expect(parseAgentFile(source, 'of-the-file')).rejects.toThrow(message);
  });

  it('when its file name is no name of an agent', async () => {
    await expect(parseAgentFile(file('description: D'), 'Not a name')).rejects.toThrow('name');
  });
});

it('the deepest nesting allowed is still parsed', async () => {
  const lines = [`a: ${'- '.repeat(29)}`, ...Array.from({ length: 100 }, (_, n) => `${' '.repeat(n + 1)}b:`)];
  for (const head of [
    `description: D\nx: ${'['.repeat(100)}${']'.repeat(100)}`,
    `description: D\nx: ${'{a: '.repeat(30)}`,
    lines.join('\n'),
  ]) {
    const begin = performance.now();
    try {
      await parsed(head);
    } catch (error) {
      expect(String(error)).not.toContain('stack');
    }
    expect(performance.now() - begin).toBeLessThan(10_000);
  }
});

it('executes no code and changes no prototype', async () => {
  const head = 'description: !!js/function "function () { throw 1 }"\ntools: !!js/regexp /x/';
  expect(await parsed(head).then(() => '', String)).not.toContain('1');
  await parsed('description: D\n__proto__: { polluted: true }\nconstructor: { prototype: { polluted: true } }');
  expect({}).not.toHaveProperty('polluted');
});
