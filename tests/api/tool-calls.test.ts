/** The calls of one response: preflight, order, conflicts, duplicates, results. */
import { readFile, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ScriptedCall } from '#support/model-server.ts';
import { call, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const file = (name: string) => join(world.project, name);
const yolo = { permission_mode: 'yolo' };

/** Runs one response with these calls, then completes the turn. */
const run = (talk: Talk, calls: ScriptedCall[], more: Record<string, unknown> = yolo) =>
  talk.turn('go', [{ calls }, { text: 'Done.' }], more);

/** Events of the calls in order: `+id` started, `id` ended, `!id` failed. */
function course(talk: Talk): string[] {
  return talk.events.durable(talk.session.id).flatMap(({ type, payload }) => {
    if (type === 'tool.call.started') return [`+${String(payload.toolCallId)}`];
    if (type === 'tool.result') return [`${payload.isError ? '!' : ''}${String(payload.toolCallId)}`];
    return [];
  });
}

const toolMessages = () => wireMessages(world, -1).filter(({ role }) => role === 'tool');

describe('preflight', () => {
  test.each<[string, string, unknown, RegExp]>([
    ['an unknown tool', 'Teleport', { to: 'Mars' }, /"Teleport" does not exist/],
    ['a disabled tool', 'Grep', { pattern: 'x' }, /"Grep" is disabled/],
    ['a missing argument', 'Read', {}, /Invalid arguments for Read: path: /],
    ['an argument of the wrong type', 'Read', { path: 1 }, /path: .*expected string/],
    ['all errors at once', 'Read', { line_offset: 'x', n_lines: 0 }, /path: .*; .*line_offset: .*; .*n_lines: /],
    ['empty arguments', 'Read', '', /path: /],
    ['arguments that are no JSON', 'Read', '{"path": "a.t', /path: /],
    ['a relative path that leaves the workspace', 'Read', { path: '../x' }, /./],
    ['a background command without words for people', 'Bash', { command: 'x', run_in_background: true }, /description/],
    ['too long a time-out', 'Bash', { command: 'x', timeout: 301 }, /timeout: /],
  ])('%s is answered with an error, without label and display', async (_what, name, args, wording) => {
    const talk = await startTalk(world);
    const { results, ended, frames } = await run(talk, [call(name, args)], { ...yolo, disabled_tools: ['Grep'] });
    expect(results).toEqual([{ toolCallId: 'call_1', isError: true, output: expect.stringMatching(wording) }]);
    expect(ended.reason).toBe('completed');
    const started = frames.find(({ type }) => type === 'tool.call.started')?.payload;
    expect(started).toMatchObject({ name });
    expect(started).not.toHaveProperty('description');
    expect(started).not.toHaveProperty('display');
    expect(wireText(toolMessages()[0] ?? { role: '' })).toMatch(/^<system>ERROR/);
    // The request repeats the model's bytes.
    const sent = wireMessages(world, -1).find(({ tool_calls }) => tool_calls)?.tool_calls?.[0]?.function.arguments;
    if (typeof args === 'object') expect(sent).toBe(JSON.stringify(args));
  });

  test('a call without arguments has empty arguments', async () => {
    const talk = await startTalk(world);
    const { results } = await run(talk, [{ name: 'Glob' }, { name: 'Read', args: 'null' }]);
    expect(results.map(({ isError }) => isError)).toEqual([true, true]);
  });
});

describe('label and display', () => {
  test.each<[string, unknown, () => unknown, string]>([
    [
      'Bash',
      { command: `echo ${'x'.repeat(60)}`, cwd: '.', description: 'Echo' },
      () => ({ kind: 'command', command: `echo ${'x'.repeat(60)}`, cwd: '.', description: 'Echo', language: 'bash' }),
      `Running: echo ${'x'.repeat(45)}…`,
    ],
    [
      'Read',
      { path: './a.txt' },
      () => ({ kind: 'file_io', operation: 'read', path: file('a.txt') }),
      'Reading ./a.txt',
    ],
    [
      'Write',
      { path: 'w.txt', content: 'w' },
      () => ({ kind: 'file_io', operation: 'write', path: file('w.txt'), content: 'w' }),
      'Writing w.txt',
    ],
    [
      'Edit',
      { path: 'a.txt', old_string: 'hello', new_string: 'bye' },
      () => ({ kind: 'file_io', operation: 'edit', path: file('a.txt'), before: 'hello', after: 'bye' }),
      'Editing a.txt',
    ],
    [
      'Glob',
      { pattern: '*.txt', path: '.', include_ignored: true },
      () => ({
        kind: 'file_io',
        operation: 'glob',
        path: world.project,
        detail: 'pattern: *.txt, path: ., include_ignored: true',
      }),
      'Searching *.txt',
    ],
    [
      'Grep',
      { pattern: 'h' },
      () => ({ kind: 'file_io', operation: 'grep', path: world.project }),
      "Searching for 'h' in",
    ],
  ])('of %s', async (name, args, display, label) => {
    const talk = await startTalk(world);
    const { frames } = await run(talk, [call(name, args)]);
    const started = frames.find(({ type }) => type === 'tool.call.started')?.payload;
    expect(started?.display).toEqual(display());
    expect(String(started?.description).startsWith(label)).toBe(true);
    expect(started?.args).toMatchObject(args as Record<string, unknown>);
  });
});

describe('concurrency', () => {
  test('reads overlap; results are published as they finish, and sent to the model in call order', async () => {
    await writeFile(file('many.txt'), 'word\n'.repeat(200_000));
    const talk = await startTalk(world);
    // The search takes longer than the read.
    await run(talk, [
      call('Grep', { pattern: 'wo.*d', path: 'many.txt', output_mode: 'count_matches' }),
      call('Read', { path: 'a.txt' }),
    ]);
    const events = course(talk);
    expect(events.slice(0, 2)).toEqual(['+call_1', '+call_2']);
    expect(events.slice(2).toSorted()).toEqual(['call_1', 'call_2']);
    expect(toolMessages().map(({ tool_call_id }) => tool_call_id)).toEqual(['call_1', 'call_2']);
  });

  test('writes of the same file run sequentially, in call order; other files do not wait', async () => {
    const talk = await startTalk(world);
    const append = (path: string, content: string) => call('Write', { path, content, mode: 'append' });
    const { results } = await run(talk, [
      append('serial.txt', '1'),
      append('serial.txt', '2'),
      append('other.txt', 'x'),
      append('serial.txt', '3'),
    ]);
    expect(results.map(({ isError }) => isError)).toEqual([false, false, false, false]);
    expect(await readFile(file('serial.txt'), 'utf8')).toBe('123');
    const ends = course(talk).slice(4);
    expect(ends.filter((id) => id !== 'call_3')).toEqual(['call_1', 'call_2', 'call_4']);
  });

  test('a command runs exclusively', async () => {
    const talk = await startTalk(world);
    await run(talk, [
      call('Bash', { command: 'sleep 0.1; echo first > order.txt' }),
      call('Read', { path: 'order.txt' }),
      call('Bash', { command: 'cat order.txt' }),
    ]);
    expect(course(talk).slice(3)).toEqual(['call_1', 'call_2', 'call_3']);
    expect(toolMessages().map(wireText)[2]).toContain('first');
  });

  test('a call that fails to prepare does not affect others', async () => {
    const talk = await startTalk(world);
    const { results } = await run(talk, [
      call('Read', { path: 'a.txt' }),
      call('Read', { path: '\0' }),
      call('Read', { path: 'a.txt', n_lines: 1 }),
    ]);
    expect(results.map(({ toolCallId, isError }) => [toolCallId, isError]).toSorted()).toEqual([
      ['call_1', false],
      ['call_2', true],
      ['call_3', false],
    ]);
  });
});

describe('equal calls in one response', () => {
  test('run a single time and share the result, right after the first', async () => {
    const talk = await startTalk(world);
    const touch = (id: string, args: unknown) => call('Bash', args, id);
    const command = 'echo x >> once.txt; wc -l < once.txt';
    const { results } = await run(talk, [
      touch('a', { command, description: 'd' }),
      touch('b', { description: 'd', command }),
      touch('c', { command: 'echo other', description: 'd' }),
      touch('d', { command, description: 'd' }),
    ]);
    expect(course(talk)).toEqual(['+a', '+b', '+c', '+d', 'a', 'b', 'd', 'c']);
    expect(results.map(({ output }) => output)).toEqual(['1\n', '1\n', '1\n', 'other\n']);
  });

  test('need a single approval, also if it is rejected', async () => {
    const talk = await startTalk(world);
    const same = { command: 'echo asked' };
    const turn = run(talk, [call('Bash', same), call('Bash', same), call('Read', { path: 'a.txt' })], {});
    await talk.answer((await talk.approval(1)).approval_id, { decision: 'rejected', feedback: 'no' });
    const { results } = await turn;
    expect(talk.all('event.approval.requested')).toHaveLength(1);
    expect(results.map(({ output }) => output.endsWith('no'))).toEqual([true, true, false]);
    expect(course(talk).slice(0, 4)).toEqual(['+call_1', '!call_1', '+call_2', '!call_2']);
  });
});

describe('call ids', () => {
  test('that are used already become unique, for clients and the model alike', async () => {
    const talk = await startTalk(world);
    const read = (n: number) => call('Read', { path: 'a.txt', n_lines: n }, 'same');
    await run(talk, [read(1), read(2)]);
    const { results } = await run(talk, [read(3)]);
    expect(results[0]?.toolCallId).toBe('same__3');
    expect(course(talk).filter((id) => id.startsWith('+'))).toEqual(['+same', '+same__2', '+same__3']);
    expect(toolMessages().map(({ tool_call_id }) => tool_call_id)).toEqual(['same', 'same__2', 'same__3']);
    const deltas = talk.events.frames.filter(({ type }) => type === 'tool.call.delta');
    expect(new Set(deltas.map(({ payload }) => payload.toolCallId))).toEqual(new Set(['same', 'same__2', 'same__3']));
  });

  test('that are missing are generated', async () => {
    const talk = await startTalk(world);
    const { results } = await run(talk, [{ name: 'Read', args: { path: 'a.txt' }, id: null }]);
    expect(results[0]?.toolCallId).toMatch(/^call_[0-9A-HJKMNP-TV-Z]{26}$/);
  });
});

describe('the repeat guard', () => {
  /** Repeats the same call in each step until the turn ends. */
  async function repeated(name: string, args: unknown, times: number) {
    const talk = await startTalk(world);
    const steps = Array.from({ length: times }, () => ({ calls: [call(name, args)] }));
    return talk.turn('loop', [...steps, ...(times < 12 ? [{ text: 'Enough.' }] : [])], yolo);
  }

  test('sends increasingly strong reminders and stops the turn at the twelfth', async () => {
    const { results, ended, frames } = await repeated('Read', { path: 'a.txt' }, 12);
    const reminders = results.map(({ output }) => /<system-reminder>\n([^]+)\n<\/system-reminder>$/.exec(output)?.[1]);
    const kinds = reminders.map((text) => text?.replace(/^.*in a row\. /, ''));
    expect(kinds.slice(0, 2)).toEqual([undefined, undefined]);
    expect(new Set(kinds.slice(2, 4)).size).toBe(1);
    expect(new Set(kinds.slice(4, 7)).size).toBe(1);
    expect(new Set(kinds.slice(7)).size).toBe(1);
    expect(new Set(kinds).size).toBe(4);
    expect(ended.reason).toBe('completed');
    expect(frames.filter(({ type }) => type === 'turn.step.completed').at(-1)?.payload.finishReason).toBe('end_turn');
  });

  test('counts refused calls, too', async () => {
    const { results, ended } = await repeated('Teleport', {}, 12);
    expect(results).toHaveLength(12);
    expect(results[11]?.output).toContain('system-reminder');
    expect(ended.reason).toBe('completed');
  });

  test('restarts the count after another call, and in a new turn', async () => {
    const talk = await startTalk(world);
    const read = { calls: [call('Read', { path: 'a.txt' })] };
    const other = { calls: [call('Read', { path: 'a.txt', n_lines: 1 })] };
    const first = await talk.turn('go', [read, read, other, read, read, { text: 'ok' }]);
    const second = await talk.turn('go', [read, read, { text: 'ok' }]);
    const outputs = [...first.results, ...second.results].map(({ output }) => output);
    expect(outputs.filter((output) => output.includes('system-reminder'))).toEqual([]);
  });
});

describe('the stale-file guard', () => {
  const edit = (path: string, from: string, to: string) => call('Edit', { path, old_string: from, new_string: to });
  const fresh = async (name: string, content = 'old\n') => {
    await writeFile(file(name), content);
    return name;
  };

  test.each(['manual', 'yolo', 'auto'])('refuses to change a file that was not read, in mode %s', async (mode) => {
    const name = await fresh(`unread-${mode}.txt`);
    const talk = await startTalk(world);
    const { results } = await run(talk, [edit(name, 'old', 'new'), call('Write', { path: name, content: 'x' })], {
      permission_mode: mode,
    });
    expect(results.map(({ output }) => output)).toEqual([
      expect.stringContaining('has not been read'),
      expect.stringContaining('has not been read'),
    ]);
    expect(await readFile(file(name), 'utf8')).toBe('old\n');
  });

  test('accepts an earlier, even partial, read of the same response; not a search', async () => {
    const name = await fresh('same-response.txt', 'old\ntwo\n');
    const talk = await startTalk(world);
    const read = call('Read', { path: name, n_lines: 1 });
    const { results } = await run(talk, [
      call('Grep', { pattern: 'old', path: name }),
      edit(name, 'old', 'x'),
      read,
      edit(name, 'old', 'new'),
    ]);
    const byId = new Map(results.map(({ toolCallId, isError }) => [toolCallId, isError]));
    expect([byId.get('call_2'), byId.get('call_4')]).toEqual([true, false]);
    expect(await readFile(file(name), 'utf8')).toBe('new\ntwo\n');
  });

  test("accepts the agent's own writes; others' changes need a new read", async () => {
    const talk = await startTalk(world);
    await run(talk, [call('Write', { path: 'own.txt', content: 'old\n' })]);
    expect((await run(talk, [edit('own.txt', 'old', 'new')])).results[0]?.isError).toBe(false);
    await utimes(file('own.txt'), new Date(), new Date(Date.now() - 60_000));
    expect((await run(talk, [edit('own.txt', 'new', 'newer')])).results[0]?.output).toContain('has changed since');
    await run(talk, [call('Read', { path: 'own.txt' })]);
    expect((await run(talk, [edit('own.txt', 'new', 'newer')])).results[0]?.isError).toBe(false);
  });

  test('checks again after a slow approval', async () => {
    const outside = join(dirname(world.project), 'waited.txt');
    await writeFile(outside, 'old\n');
    const talk = await startTalk(world);
    await run(talk, [call('Read', { path: outside })]);
    const turn = run(talk, [edit(outside, 'old', 'new')], { permission_mode: 'manual' });
    const { approval_id: id } = await talk.approval();
    await writeFile(outside, 'old and changed\n');
    await utimes(outside, new Date(), new Date(Date.now() - 60_000));
    await talk.answer(id, { decision: 'approved' });
    expect((await turn).results[0]).toMatchObject({
      isError: true,
      output: expect.stringContaining('has changed since'),
    });
    expect(await readFile(outside, 'utf8')).toBe('old and changed\n');
  });

  test('survives a restart', async () => {
    const name = await fresh('restart.txt');
    const talk = await startTalk(world);
    await run(talk, [call('Read', { path: name })]);
    await world.restart();
    const [prompt] = (await talk.messages()).slice(-1);
    expect(prompt?.role).toBe('assistant');
    world.model.enqueue({ calls: [edit(name, 'old', 'new')] });
    world.model.enqueue({ text: 'ok' });
    const { prompt_id: id } = await world.prompt(talk.session.id, 'again', yolo);
    const events = await world.watch(talk.session.id);
    await events.waitFor(({ type, payload }) => type === 'prompt.completed' && payload.promptId === id);
    expect(await readFile(file(name), 'utf8')).toBe('new\n');
  });
});

describe('results', () => {
  test('a long one is truncated', async () => {
    const talk = await startTalk(world);
    const { results } = await run(talk, [call('Bash', { command: 'seq 1 20000' })]);
    expect(results[0]?.output).toMatch(/^1\n2\n[^]*\[\.\.\.truncated\]/);
    expect(results[0]?.output.length).toBeLessThan(51_000);
  });

  test('an empty one has a text that mentions it', async () => {
    const talk = await startTalk(world);
    const { results } = await run(talk, [call('Bash', { command: 'true' })]);
    expect(results[0]?.output.trim()).not.toBe('');
    expect(wireText(toolMessages()[0] ?? { role: '' })).toContain(results[0]?.output);
  });

  test('a failing command is an error that ends with its exit code', async () => {
    const talk = await startTalk(world);
    const { results } = await run(talk, [call('Bash', { command: 'echo out; echo err >&2; exit 3' })]);
    expect(results[0]).toMatchObject({ isError: true, output: expect.stringMatching(/^out\nerr\n.*3$/s) });
  });

  test('progress is published while a command runs, and is in the snapshot', async () => {
    const talk = await startTalk(world);
    const go = join(world.project, `go-${talk.session.id}`);
    const command = `echo begun; while [ ! -e ${go} ]; do sleep 0.02; done; echo over`;
    const turn = run(talk, [call('Bash', { command })]);
    await talk.events.waitFor(({ type }) => type === 'tool.progress');
    const { in_flight_turn } = await world.snapshot(talk.session.id);
    expect(in_flight_turn?.running_tools).toMatchObject([
      { tool_call_id: 'call_1', name: 'Bash', args: { command }, last_progress: { kind: 'stdout', text: 'begun\n' } },
    ]);
    await writeFile(go, '');
    expect((await turn).results[0]?.output).toBe('begun\nover\n');
    expect((await world.snapshot(talk.session.id)).in_flight_turn).toBeNull();
  });
});
