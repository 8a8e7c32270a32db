import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createOutputBuilder, cutText, OUTPUT_MAX_CHARS, TRUNCATION_MARKER } from '#server/text/truncate.ts';
import { spillOutput } from '#server/agent/calls/spill.ts';
import { createWorkspace } from '../builtin-tools/workspace.ts';
import type { Workspace } from '../builtin-tools/workspace.ts';

describe('output builder', () => {
  test('joins chunks and puts closing lines on separate lines', () => {
    const builder = createOutputBuilder();
    builder.write('a\nb');
    builder.write('c');
    expect(builder.finish(['end'])).toEqual({ output: 'a\nbc\nend', truncated: false });
  });

  test('cuts a long line, for any chunks, without reporting truncation', () => {
    const builder = createOutputBuilder();
    for (let piece = 0; piece < 30; piece++) builder.write('x'.repeat(100));
    builder.write('\nnext\n');
    const { output, truncated } = builder.finish();
    const [first, second] = output.split('\n');
    expect(first).toBe('x'.repeat(2000 - TRUNCATION_MARKER.length) + TRUNCATION_MARKER);
    expect(second).toBe('next');
    expect(truncated).toBe(false);
  });

  test('a line of exactly the limit is complete', () => {
    const builder = createOutputBuilder();
    builder.write(`${'x'.repeat(2000)}\n`);
    expect(builder.finish().output).toBe(`${'x'.repeat(2000)}\n`);
  });

  test('stops at the total with one marker and reports it', () => {
    const builder = createOutputBuilder();
    for (let row = 0; row < 2000; row++) builder.write(`${'y'.repeat(99)}\n`);
    const { output, truncated } = builder.finish(['Exit code: 1']);
    expect(truncated).toBe(true);
    expect(output.split(TRUNCATION_MARKER)).toHaveLength(2);
    const [body = '', rest = ''] = output.split(TRUNCATION_MARKER);
    expect(body.length + TRUNCATION_MARKER.length).toBe(OUTPUT_MAX_CHARS);
    expect(rest).toBe(`\nOutput was cut to ${OUTPUT_MAX_CHARS} characters.\nExit code: 1`);
  });

  test('exactly the total is not truncated', () => {
    const builder = createOutputBuilder();
    builder.write(`${'y'.repeat(99)}\n`.repeat(500));
    const { output, truncated } = builder.finish();
    expect(truncated).toBe(false);
    expect(output.length).toBe(OUTPUT_MAX_CHARS);
  });

  test('without a line limit only the total applies', () => {
    const builder = createOutputBuilder(Infinity);
    builder.write('z'.repeat(10_000));
    expect(builder.finish().output).toHaveLength(10_000);
  });

  test('never splits a character', () => {
    expect(cutText('a😀b', 2)).toBe('a');
    expect(cutText('a😀b', 3)).toBe('a😀');
  });
});

describe('spill', () => {
  let space: Workspace;
  const problems: string[] = [];
  const facts = () => ({
    toolName: 'mcp__x__y/z',
    toolCallId: `call ${'9'.repeat(100)}`,
    dir: join(space.root, 'agents/main/tool-results'),
    onError: (message: string) => void problems.push(message),
  });
  beforeEach(async () => {
    space = await createWorkspace();
    problems.length = 0;
  });
  afterEach(() => space.remove());

  test('saves a long text and leaves a header and a preview', async () => {
    const output = `${'é'.repeat(50_000)}!`;
    const result = await spillOutput({ output }, facts());
    const [name = ''] = await readdir(facts().dir);
    expect(name).toMatch(/^mcp__x__y_z-call_9+-[0-9a-f-]{36}\.txt$/);
    expect(name.length).toBe(80 + '.txt'.length);
    expect(await readFile(join(facts().dir, name), 'utf8')).toBe(output);
    const [head = '', preview] = String(result.output).split('\n\n[preview]\n');
    expect(head.split('\n').map((line) => line.split(':')[0])).toEqual([
      'tool_name',
      'tool_call_id',
      'output_size_chars',
      'output_size_bytes',
      'output_path',
      'next_step',
    ]);
    expect(head).toContain('output_size_chars: 50001\noutput_size_bytes: 100001');
    expect(head).toContain(`output_path: ${join(facts().dir, name)}`);
    expect(preview).toBe('é'.repeat(2000));
  });

  test.each([
    ['short enough', { output: 'x'.repeat(50_000) }, 'Tool'],
    ['already cut', { output: 'x'.repeat(60_000), truncated: true }, 'Tool'],
    ['from Read', { output: 'x'.repeat(60_000) }, 'Read'],
    ['parts', { output: [{ type: 'text' as const, text: 'x'.repeat(60_000) }] }, 'Tool'],
  ])('does not save output that is %s', async (_why, result, toolName) => {
    expect(await spillOutput(result, { ...facts(), toolName })).toBe(result);
    await expect(readdir(facts().dir)).rejects.toThrow('ENOENT');
  });

  test('retains the output when it cannot be saved, with the reason', async () => {
    await writeFile(join(space.root, 'agents'), 'in the way');
    const result = { output: 'x'.repeat(60_000) };
    expect(await spillOutput(result, facts())).toBe(result);
    expect(problems).toHaveLength(1);
  });
});
