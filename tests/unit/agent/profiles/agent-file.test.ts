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
  it.each([
    ['without front matter', 'You help.', 'front matter'],
    ['with empty front matter', '---\n---\nYou help.', 'no mapping'],
    ['with a list', file('- description: D'), 'no mapping'],
    ['without a description', file('name: a'), 'description'],
    ['with a blank description', file('description: " "'), 'description'],
    ['with a name of another form', file('name: Re_Viewer\ndescription: D'), 'name'],
    ['with tools that are no list', file('description: D\ntools: 3'), 'tools'],
    ['with an override that is no boolean', file('description: D\noverride: "yes"'), 'override'],
    ['without a prompt', file('description: D', ' \n'), 'no prompt'],
  ])('%s', async (_what, source, message) => {
    await expect(parseAgentFile(source, 'of-the-file')).rejects.toThrow(message);
  });

  it('when its file name is no name of an agent', async () => {
    await expect(parseAgentFile(file('description: D'), 'Not a name')).rejects.toThrow('name');
  });
});
