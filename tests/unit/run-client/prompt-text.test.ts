import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { fenced, promptText } from '../../../clients/run/prompt-text.ts';

const warn = () => undefined;

describe('the prompt', () => {
  it.each([
    ['Explain', undefined, 'Explain'],
    ['Explain', 'x\n', 'Explain\n\n```\nx\n```'],
    ['Explain', ' \n', 'Explain'],
    ['-', 'Piped', 'Piped'],
    [undefined, 'Piped', 'Piped'],
  ])('of the argument %j and the pipe %j', async (argument, pipe, expected) => {
    const piped = pipe === undefined ? undefined : Readable.from([Buffer.from(pipe)]);
    expect(await promptText({ argument, piped, warn })).toBe(expected);
  });

  it.each([
    ['-', undefined],
    ['-', ''],
    [undefined, ' \n'],
    ['', undefined],
    [' ', ''],
  ])('is missing with the argument %j and the pipe %j', async (argument, pipe) => {
    const piped = pipe === undefined ? undefined : Readable.from([Buffer.from(pipe)]);
    await expect(promptText({ argument, piped, warn })).rejects.toMatchObject({ reason: 'bad_use' });
  });

  it('is the argument and one warning when the pipe stays silent', async () => {
    const warnings: string[] = [];
    const silent = { argument: 'Go', piped: new PassThrough(), warn: (text: string) => void warnings.push(text) };
    expect(await promptText(silent)).toBe('Go');
    expect(warnings).toHaveLength(1);
  });

  it('keeps characters that two chunks of the pipe share', async () => {
    const bytes = Buffer.from('é💥');
    const piped = Readable.from([...bytes].map((byte) => Buffer.from([byte])));
    expect(await promptText({ argument: '-', piped, warn })).toBe('é💥');
  });

  it('must not exceed the size of a request', async () => {
    const piped = Readable.from(Array.from({ length: 25 }, () => Buffer.alloc(1024 * 1024, 'x')));
    await expect(promptText({ argument: '-', piped, warn })).rejects.toMatchObject({ reason: 'bad_use' });
  });
});

it('a fence is longer than each run of backticks in the text', () => {
  expect(fenced('a ```` b')).toBe('`````\na ```` b\n`````');
});
