/** Hooks of the configuration, run by real turns. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { OUTPUT_MAX_CHARS } from '#server/text/truncate.ts';
import { CHANGE_WINDOW_MS } from '#server/config/changes.ts';
import { processAlive } from '#server/processes/process-alive.ts';
import { manualClock } from '#support/manual-clock.ts';
import { until } from '#support/patience.ts';
import { call, callThenText, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({
    env: () => ({ ...process.env, SERVICE_CODE_PASSWORD: 'hidden', SERVICE_MODEL_API_KEY: 'hidden', SHOWN: 'shown' }),
  });
});
afterAll(() => world.close());

interface Entry {
  event: string;
  matcher?: string;
  command: string;
  timeout?: number;
}

const configure = (...hooks: Entry[]) => world.ok('POST', '/config', { hooks });
beforeEach(() => configure());

let names = 0;
/** A file name in the project that no other test uses. */
const fresh = (what: string) => `${what}-${(names += 1)}`;
const inProject = (name: string) => join(world.project, name);
const textOf = (name: string) => readFile(inProject(name), 'utf8').catch(() => '');

/** Content of a file of the project, when `holds` returns true for it. */
const written = (name: string, holds = (text: string) => text.endsWith('\n')): Promise<string> =>
  until(async () => {
    const text = await textOf(name);
    return holds(text) && text;
  }, name);

/** Hooks that append their input to a file, one file per event. */
function recorded(...events: string[]) {
  const name = fresh('told');
  // A single write each, because several sessions may end at the same time.
  const entries = events.map((event) => ({ event, command: `printf '%s\\n' "$(tr -d '\\n')" >> ${name}-${event}` }));
  return {
    entries,
    /** The n-th input of an event's hook. */
    async nth(event: string, n = 1): Promise<Record<string, unknown>> {
      const text = await written(`${name}-${event}`, (lines) => lines.split('\n').length > n);
      return JSON.parse(text.split('\n')[n - 1] ?? '') as Record<string, unknown>;
    },
    text: (event: string) => textOf(`${name}-${event}`),
  };
}

/** A command that writes its process id and waits forever, ignoring SIGTERM. */
const hangs = (name: string) => `trap '' TERM; echo $$ > ${name}; while :; do sleep 1; done`;
const gone = (pid: number) => until(() => !processAlive(pid), `end of ${pid}`);

const shown = async (talk: Talk) =>
  (await talk.messages()).filter(({ metadata }) => metadata?.origin?.kind !== 'injection');
const typesFrom = (talk: Talk, first: string) => {
  const all = talk.events.durable(talk.session.id).map(({ type }) => type);
  return all.slice(all.lastIndexOf(first));
};
const submit = (talk: Talk, text: string, id: string) =>
  world.api('POST', `${talk.path}/prompts`, { content: [{ type: 'text', text }], prompt_id: id });

describe('a prompt', () => {
  test('is refused by exit code 2: both messages are stored, and no turn starts', async () => {
    await configure({ event: 'UserPromptSubmit', matcher: 'secret', command: 'echo not here >&2; exit 2' });
    const talk = await startTalk(world);
    const prompt = await talk.prompt('the secret', [], { prompt_id: 'p0' });
    expect(prompt).toMatchObject({ prompt_id: 'p0', status: 'blocked', content: [{ text: 'the secret' }] });
    expect((await talk.settled('p0')).payload).toMatchObject({ reason: 'blocked' });
    expect(typesFrom(talk, 'session.meta.updated')).toEqual([
      'session.meta.updated',
      'prompt.submitted',
      'event.session.work_changed',
      'context.spliced',
      'hook.result',
      'context.spliced',
      'event.session.work_changed',
      'prompt.completed',
    ]);
    expect(talk.all('event.session.work_changed').map(({ payload }) => payload.busy)).toEqual([true, false]);
    expect(talk.all('prompt.submitted')[0]?.payload).toMatchObject({ status: 'running' });
    const result = { hookEvent: 'UserPromptSubmit', content: 'not here', blocked: true };
    expect(talk.all('hook.result')[0]?.payload).toMatchObject(result);
    const origin = { kind: 'hook_result', event: 'UserPromptSubmit', blocked: true, ownerPromptId: 'p0' };
    expect(await shown(talk)).toMatchObject([
      { id: 'p0', role: 'user', content: [{ text: 'the secret' }] },
      { role: 'assistant', content: [{ text: 'not here' }], metadata: { origin } },
    ]);
    expect(await world.ok('GET', `${talk.path}/prompts`)).toEqual({ active: null, queued: [] });
    expect(await world.ok('GET', talk.path)).not.toHaveProperty('last_turn_reason');
    expect(await submit(talk, 'again', 'p0')).toMatchObject({ code: 40903 });
    const { items } = (await world.ok('GET', `${talk.path}/transcript?agent_id=main`)) as { items: object[] };
    expect(items).toMatchObject([{ kind: 'marker', marker: 'hook', payload: { ...result, agentId: 'main' } }]);
    // The next prompt, which no hook blocks, is turn 0.
    const turn = await talk.turn('hello', [{ text: 'Hi.' }]);
    expect(turn.ended).toMatchObject({ turnId: 0, reason: 'completed' });
  });

  test('is refused by a JSON reply, regardless of its other members', async () => {
    const reply = { message: 7, hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'no' } };
    await configure({ event: 'UserPromptSubmit', command: `echo '${JSON.stringify(reply)}'` });
    const talk = await startTalk(world);
    expect(await talk.prompt('go')).toMatchObject({ status: 'blocked' });
    expect((await talk.nth('hook.result', 1)).payload).toMatchObject({ content: 'no', blocked: true });
  });

  test('is preceded by the output of its hooks, as one message', async () => {
    await configure(
      { event: 'UserPromptSubmit', command: 'echo plain' },
      { event: 'UserPromptSubmit', command: `echo '{"message": "of the reply"}'` },
      { event: 'UserPromptSubmit', command: `echo '{"hookSpecificOutput": {"message": "of its output"}}'` },
      { event: 'UserPromptSubmit', command: 'echo plain' },
      { event: 'UserPromptSubmit', command: 'echo failed; exit 1' },
      { event: 'UserPromptSubmit', command: '/no/such/program' },
      { event: 'UserPromptSubmit', command: 'echo never', matcher: '(' },
      { event: 'UserPromptSubmit', command: 'kill -9 $$' },
      { event: 'Stop', command: 'echo never' },
    );
    const talk = await startTalk(world);
    const turn = await talk.turn('go', [{ text: 'Done.' }], { prompt_id: 'p0' });
    const content = 'plain\n\nof the reply\n\nof its output';
    expect(turn.frames.slice(0, 7).map(({ type }) => type)).toEqual([
      'prompt.submitted',
      'event.session.work_changed',
      'context.spliced',
      'hook.result',
      'turn.started',
      'event.session.work_changed',
      'context.spliced',
    ]);
    expect(talk.all('hook.result').map(({ payload }) => payload)).toMatchObject([
      { hookEvent: 'UserPromptSubmit', content },
    ]);
    const text = `<hook_result hook_event="UserPromptSubmit">\n${content}\n</hook_result>`;
    const origin = { kind: 'hook_result', event: 'UserPromptSubmit', ownerPromptId: 'p0' };
    expect((await shown(talk)).slice(0, 2)).toMatchObject([
      { role: 'user', content: [{ text }], metadata: { origin } },
      { id: 'p0', role: 'user' },
    ]);
    expect(wireMessages(world, -1).map(wireText).slice(1, 3)).toEqual([text, 'go']);
  });

  test('starts immediately if no hook matches it', async () => {
    await configure({ event: 'UserPromptSubmit', matcher: '^never$', command: 'exit 2' });
    const talk = await startTalk(world);
    const { frames } = await talk.turn('go', [{ text: 'Done.' }]);
    expect(frames.slice(0, 3).map(({ type }) => type)).toEqual([
      'prompt.submitted',
      'turn.started',
      'event.session.work_changed',
    ]);
  });

  test('waits for a hanging hook until its time-out; the process tree of the hook is killed', async () => {
    const pid = fresh('pid');
    await configure({ event: 'UserPromptSubmit', command: hangs(pid), timeout: 1 });
    const talk = await startTalk(world);
    const begin = performance.now();
    const { ended } = await talk.turn('go', [{ text: 'Done.' }]);
    expect(ended).toMatchObject({ reason: 'completed' });
    const took = performance.now() - begin;
    expect(took).toBeGreaterThan(1000);
    // The configured time-out, not the default of 30 s.
    expect(took).toBeLessThan(25_000);
    await gone(Number(await written(pid)));
  });

  test('gets a bounded text from a hook that floods its output', async () => {
    await configure({ event: 'UserPromptSubmit', command: 'yes | head -c 5000000; yes | head -c 5000000 >&2' });
    const talk = await startTalk(world);
    await talk.turn('go', [{ text: 'Done.' }]);
    const { content } = (await talk.nth('hook.result', 1)).payload;
    expect(String(content).length).toBeLessThanOrEqual(OUTPUT_MAX_CHARS);
    expect(content).toMatch(/^y\ny\n/);
  });

  test('is matched and passed whole when it is long', async () => {
    const told = recorded('UserPromptSubmit');
    await configure(...told.entries.map((entry) => ({ ...entry, matcher: 'end$' })));
    const talk = await startTalk(world);
    const text = `${'x'.repeat(40_000)} end`;
    await talk.turn(text, [{ text: 'Done.' }]);
    expect(await told.nth('UserPromptSubmit')).toMatchObject({ prompt: text, is_steer: false });
  });
});

describe('while the hook of a prompt runs', () => {
  /** Submits a prompt whose hook waits for a file. */
  async function held() {
    const gate = fresh('gate');
    const pid = fresh('pid');
    const command = `echo $$ > ${pid}; until test -e ${gate}; do sleep 0.02; done; echo added`;
    await configure({ event: 'UserPromptSubmit', command });
    const talk = await startTalk(world);
    const reply = submit(talk, 'first', 'p0');
    const hook = Number(await written(pid));
    return { talk, reply, hook, pid, open: () => writeFile(inProject(gate), '') };
  }

  test('the session is busy without a turn, and the prompt is the active one', async () => {
    const { talk, reply, open } = await held();
    expect(await world.ok('GET', talk.path)).toMatchObject({ busy: true, main_turn_active: false });
    expect(await world.ok('GET', `${talk.path}/prompts`)).toMatchObject({
      active: { prompt_id: 'p0', status: 'running' },
      queued: [],
    });
    expect(await submit(talk, 'first', 'p0')).toMatchObject({ code: 40927 });
    expect(await world.api('POST', `${talk.path}/prompts/p0:steer`)).toMatchObject({
      code: 40402,
      msg: 'no active prompt to steer into',
    });
    world.model.enqueue({ text: 'Done.' });
    await open();
    expect(await reply).toMatchObject({ code: 0, data: { status: 'running' } });
    await talk.settled('p0');
  });

  test('other prompts are queued, and the hook of each runs when it is dequeued', async () => {
    const { talk, reply, open } = await held();
    expect(await submit(talk, 'second', 'p1')).toMatchObject({ data: { status: 'queued' } });
    expect((await talk.nth('prompt.queued', 1)).payload).toMatchObject({ promptId: 'p1', queueLength: 1 });
    for (const text of ['One.', 'Two.']) world.model.enqueue({ text });
    await open();
    await reply;
    await talk.settled('p1');
    expect(talk.all('hook.result')).toHaveLength(2);
    expect(typesFrom(talk, 'turn.ended').length).toBeGreaterThan(0);
    const all = talk.events.durable(talk.session.id).map(({ type }) => type);
    const end = all.indexOf('prompt.completed');
    expect(all.slice(end, end + 6)).toEqual([
      'prompt.completed',
      'event.session.work_changed',
      'context.spliced',
      'hook.result',
      'turn.started',
      'event.session.work_changed',
    ]);
  });

  test.each([
    ['the prompt', (path: string) => `${path}/prompts/p0:abort`],
    ['the session', (path: string) => `${path}:abort`],
  ])('an abort of %s kills it, and no turn starts', async (_what, address) => {
    const { talk, reply, hook } = await held();
    expect(await world.api('POST', address(talk.path), {})).toMatchObject({ code: 0, data: { aborted: true } });
    expect(await reply).toMatchObject({ code: 0, data: { prompt_id: 'p0', status: 'running' } });
    await talk.settled('p0');
    expect(typesFrom(talk, 'prompt.submitted')).toEqual([
      'prompt.submitted',
      'event.session.work_changed',
      'event.session.work_changed',
      'prompt.aborted',
    ]);
    await gone(hook);
    expect(await world.api('POST', `${talk.path}/prompts/p0:abort`, {})).toMatchObject({ code: 40903 });
    expect(await shown(talk)).toEqual([]);
    await configure();
    const { ended } = await talk.turn('next', [{ text: 'Done.' }]);
    expect(ended).toMatchObject({ turnId: 0 });
  });

  test('an abort starts the queued prompts', async () => {
    const { talk, reply, open } = await held();
    await submit(talk, 'second', 'p1');
    world.model.enqueue({ text: 'Done.' });
    await world.ok('POST', `${talk.path}:abort`, {});
    await reply;
    await open();
    expect((await talk.settled('p1')).payload).toMatchObject({ reason: 'completed' });
  });

  test('an archive kills it, and drops the queue', async () => {
    const { talk, reply, hook } = await held();
    await submit(talk, 'second', 'p1');
    expect(await world.api('POST', `${talk.path}:archive`, {})).toMatchObject({ data: { archived: true } });
    expect(await reply).toMatchObject({ code: 0, data: { status: 'running' } });
    await gone(hook);
    await expect.poll(() => talk.all('prompt.aborted').map(({ payload }) => payload.promptId)).toEqual(['p0', 'p1']);
    expect(await world.ok('GET', talk.path)).toMatchObject({ busy: false });
  });
});

describe('a call', () => {
  const bash = (command: string) => callThenText('Bash', { command });

  test.each([
    ['exit code 2', 'echo too dangerous >&2; exit 2'],
    [
      'a JSON reply',
      `echo '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"too dangerous"}}'`,
    ],
  ])('is denied by %s, before approval is requested', async (_what, command) => {
    const told = recorded('PreToolUse');
    await configure({ event: 'PreToolUse', matcher: '^Bash$', command }, ...told.entries);
    const talk = await startTalk(world);
    const { results } = await talk.turn('go', bash(`touch ${fresh('made')}`));
    expect(results).toMatchObject([{ isError: true, output: expect.stringContaining('too dangerous') }]);
    expect(talk.all('event.approval.requested')).toEqual([]);
    expect(await told.nth('PreToolUse')).toMatchObject({
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: expect.stringContaining('touch') },
      tool_call_id: results[0]?.toolCallId,
    });
  });

  test('still needs permission if a hook allows it', async () => {
    const allow = '{"hookSpecificOutput":{"permissionDecision":"allow"}}';
    const told = recorded('PermissionRequest', 'PermissionResult');
    await configure({ event: 'PreToolUse', command: `echo '${allow}'` }, ...told.entries);
    const talk = await startTalk(world);
    const prompt = await talk.prompt('go', bash('echo hello'));
    const approval = await talk.approval();
    const request = { tool_name: 'Bash', tool_input: { command: 'echo hello' }, approval_id: approval.approval_id };
    expect(await told.nth('PermissionRequest')).toMatchObject({ ...request, action: approval.action });
    await talk.answer(approval.approval_id, { decision: 'rejected', feedback: 'not now' });
    await talk.settled(prompt.prompt_id);
    const result = { ...request, decision: 'rejected', feedback: 'not now' };
    expect(await told.nth('PermissionResult')).toMatchObject(result);
  });

  test('is reported after it ran, with the start of its output or its error', async () => {
    const told = recorded('PostToolUse', 'PostToolUseFailure');
    await configure(...told.entries);
    const talk = await startTalk(world);
    const long = 'yes | head -c 3000';
    const calls = [call('Bash', { command: long }, 'c1'), call('Bash', { command: 'echo bad; exit 3' }, 'c2')];
    await talk.turn('go', [{ calls }, { text: 'Done.' }], { permission_mode: 'yolo' });
    const ran = await told.nth('PostToolUse');
    expect(ran).toMatchObject({ tool_name: 'Bash', tool_call_id: 'c1', tool_input: { command: long } });
    expect(ran.tool_output).toBe('y\n'.repeat(1000));
    const failed = await told.nth('PostToolUseFailure');
    expect(failed).toMatchObject({ tool_call_id: 'c2', error: expect.stringContaining('bad') });
    expect(failed).not.toHaveProperty('tool_output');
  });

  test('is aborted with its turn while its hook runs', async () => {
    const pid = fresh('pid');
    await configure({ event: 'PreToolUse', command: hangs(pid) });
    const talk = await startTalk(world);
    await talk.prompt('go', bash('echo hello').slice(0, 1), { prompt_id: 'p0' });
    const hook = Number(await written(pid));
    await world.ok('POST', `${talk.path}:abort`, {});
    await talk.settled('p0');
    await gone(hook);
    expect(talk.all('turn.ended')[0]?.payload).toMatchObject({ reason: 'cancelled' });
  });
});

describe('a turn', () => {
  test('is continued by a Stop hook, a single time', async () => {
    const told = recorded('Stop');
    await configure({ event: 'Stop', command: 'echo run the tests >&2; exit 2' }, ...told.entries);
    const talk = await startTalk(world);
    const { ended, frames } = await talk.turn('go', [{ text: 'Done.' }, { text: 'Really done.' }]);
    expect(ended).toMatchObject({ reason: 'completed' });
    expect(frames.filter(({ type }) => type === 'turn.step.started')).toHaveLength(2);
    expect((await shown(talk))[2]).toMatchObject({
      role: 'user',
      content: [{ text: 'run the tests' }],
      metadata: { origin: { kind: 'system_trigger', name: 'stop_hook' } },
    });
    expect(talk.all('hook.result').map(({ payload }) => payload)).toMatchObject([
      { turnId: 0, hookEvent: 'Stop', content: 'run the tests' },
    ]);
    const at = frames.findIndex(({ type }) => type === 'hook.result');
    expect(frames.slice(at - 1, at + 2).map(({ type }) => type)).toEqual([
      'context.spliced',
      'hook.result',
      'turn.step.started',
    ]);
    expect(await told.nth('Stop')).toMatchObject({ stop_hook_active: false });
    expect((await told.text('Stop')).trimEnd().split('\n')).toHaveLength(1);
    // The next turn is continued a single time, too.
    await talk.turn('again', [{ text: 'Done.' }, { text: 'Really done.' }]);
    expect(talk.all('hook.result')).toHaveLength(2);
  });

  test('completes if a Stop hook allows it', async () => {
    await configure({ event: 'Stop', command: 'echo fine' });
    const talk = await startTalk(world);
    const { frames } = await talk.turn('go', [{ text: 'Done.' }]);
    expect(frames.filter(({ type }) => type === 'turn.step.started')).toHaveLength(1);
    expect(talk.all('hook.result')).toEqual([]);
  });

  test('reports its start, queued prompts, its abort and its failure', async () => {
    const told = recorded('TurnStarted', 'UserPromptQueued', 'Interrupt', 'StopFailure');
    await configure(...told.entries);
    const talk = await startTalk(world);
    const first = world.model.enqueue({ text: 'One.', hold: true });
    await talk.prompt('first', [], { prompt_id: 'p0' });
    await first.sent;
    expect(await told.nth('TurnStarted')).toMatchObject({ turn_id: 0, origin_kind: 'user', prompt: 'first' });
    world.model.enqueue({ status: 400, error: { message: 'no' } });
    await talk.prompt('second', [], { prompt_id: 'p1' });
    expect(await told.nth('UserPromptQueued')).toMatchObject({ prompt_id: 'p1', prompt: 'second', queue_length: 1 });
    await world.ok('POST', `${talk.path}:abort`, {});
    first.release();
    await talk.settled('p1');
    expect(await told.nth('Interrupt')).toMatchObject({ turn_id: 0, reason: 'user_cancelled' });
    const error = talk.all('error')[0]?.payload;
    const failure = { error_type: error?.name, error_message: error?.message };
    expect(await told.nth('StopFailure')).toMatchObject(failure);
  });

  test('runs no prompt hook for a prompt steered into it', async () => {
    const told = recorded('UserPromptSubmit', 'UserPromptQueued');
    const refuses = { event: 'UserPromptSubmit', matcher: '^steered$', command: 'exit 2' };
    await configure(refuses, ...told.entries);
    const talk = await startTalk(world);
    const first = world.model.enqueue({ text: 'One.', hold: true });
    await talk.prompt('first', [], { prompt_id: 'p0' });
    await first.sent;
    await talk.prompt('steered', [], { prompt_id: 'p1' });
    await told.nth('UserPromptQueued');
    await world.ok('POST', `${talk.path}/prompts/p1:steer`);
    world.model.enqueue({ text: 'Two.' });
    first.release();
    await talk.settled('p0');
    expect(wireText(wireMessages(world, -1).at(-1) ?? { role: '' })).toBe('steered');
    expect(talk.all('hook.result')).toEqual([]);
    // The hook's second input is the next prompt, not the steered one.
    await talk.turn('last', [{ text: 'Three.' }]);
    expect(await told.nth('UserPromptSubmit', 2)).toMatchObject({ prompt: 'last', is_steer: false });
  });

  test('kills a running TurnStarted hook on abort', async () => {
    const pid = fresh('pid');
    await configure({ event: 'TurnStarted', command: hangs(pid) });
    const talk = await startTalk(world);
    const first = world.model.enqueue({ text: 'One.', hold: true });
    await talk.prompt('first', [], { prompt_id: 'p0' });
    await first.sent;
    const hook = Number(await written(pid));
    await world.ok('POST', `${talk.path}:abort`, {});
    first.release();
    await talk.settled('p0');
    await gone(hook);
  });
});

describe('tasks and subagents', () => {
  test('commands are reported when they start, and in the background also when they end', async () => {
    const told = recorded('TaskStarted', 'Notification');
    await configure(...told.entries);
    const talk = await startTalk(world);
    const gate = fresh('gate');
    const command = `until test -e ${gate}; do sleep 0.02; done`;
    const behind = { command, description: 'Nothing', run_in_background: true };
    const calls = [call('Bash', { command: 'echo hello' }, 'c1')];
    const scripts = [{ calls }, { calls: [call('Bash', behind, 'c2')] }, { text: 'Done.' }, { text: 'I heard.' }];
    await talk.turn('go', scripts, { permission_mode: 'yolo' });
    // A task that ends before its turn is reported in that turn.
    await writeFile(inProject(gate), '');
    const task = { kind: 'process', status: 'running', started_at: expect.any(Number) };
    expect(await told.nth('TaskStarted')).toMatchObject({ ...task, detached: false, task_id: expect.any(String) });
    const second = await told.nth('TaskStarted', 2);
    expect(second).toMatchObject({ ...task, detached: true, description: 'Nothing' });
    expect(await told.nth('Notification')).toMatchObject({
      sink: 'conversation',
      notification_type: 'task.completed',
      source_kind: 'background_task',
      source_id: second.task_id,
      severity: 'info',
    });
    await expect.poll(() => world.ok('GET', talk.path)).toMatchObject({ busy: false });
  });

  test('a subagent waits for its SubagentStart hooks', async () => {
    const gate = fresh('gate');
    const told = recorded('SubagentStart', 'SubagentStop');
    const waits = {
      event: 'SubagentStart',
      matcher: '^plan$',
      command: `until test -e ${gate}; do sleep 0.02; done; exit 2`,
    };
    await configure(waits, ...told.entries);
    const talk = await startTalk(world);
    const task = { prompt: 'Think.', description: 'Thinking', subagent_type: 'plan' };
    await talk.prompt('go', [{ calls: [call('Agent', task)] }, { text: 'A plan.' }, { text: 'Done.' }], {
      prompt_id: 'p0',
    });
    expect(await told.nth('SubagentStart')).toMatchObject({ agent_name: 'plan', prompt: 'Think.' });
    const { length } = world.model.requests;
    await writeFile(inProject(gate), '');
    await world.model.waitForRequest(length + 1);
    await talk.settled('p0');
    expect(await told.nth('SubagentStop')).toMatchObject({ agent_name: 'plan', response: 'A plan.' });
  });
});

describe('a session', () => {
  test('reports its start, its end, and its resume', async () => {
    const told = recorded('SessionStart', 'SessionEnd');
    await configure(...told.entries);
    const talk = await startTalk(world);
    await world.ok('GET', `${talk.path}/status`);
    await talk.turn('go', [{ text: 'Done.' }]);
    expect(await told.nth('SessionStart')).toMatchObject({
      source: 'startup',
      session_id: talk.session.id,
      cwd: world.project,
      client_type: 'server',
      model: expect.any(String),
      profile: 'agent',
    });
    await world.ok('POST', `${talk.path}:archive`, {});
    expect(await told.nth('SessionEnd')).toMatchObject({ reason: 'archive', session_title: 'go' });
    await world.ok('POST', `${talk.path}:restore`, {});
    await world.ok('GET', `${talk.path}/messages`);
    expect((await told.text('SessionStart')).trimEnd().split('\n')).toHaveLength(1);
    await talk.turn('more', [{ text: 'Done.' }]);
    expect(await told.nth('SessionStart', 2)).toMatchObject({ source: 'resume', profile: 'agent' });
    await world.restart();
    expect(await told.nth('SessionEnd', 2)).toMatchObject({ reason: 'exit' });
  });

  test('has no start and no end if it was only read', async () => {
    const told = recorded('SessionStart', 'SessionEnd');
    await configure(...told.entries);
    const talk = await startTalk(world);
    await world.ok('GET', `${talk.path}/status`);
    await world.ok('POST', `${talk.path}:archive`, {});
    expect([await told.text('SessionStart'), await told.text('SessionEnd')]).toEqual(['', '']);
  });

  test('delays its first prompt until its SessionStart hooks have exited', async () => {
    const gate = fresh('gate');
    await configure({ event: 'SessionStart', command: `until test -e ${gate}; do sleep 0.02; done; exit 2` });
    const talk = await startTalk(world);
    world.model.enqueue({ text: 'Done.' });
    const reply = submit(talk, 'first', 'p0');
    await talk.nth('prompt.submitted', 1);
    expect(talk.all('turn.started')).toEqual([]);
    await writeFile(inProject(gate), '');
    expect(await reply).toMatchObject({ data: { status: 'running' } });
    expect((await talk.settled('p0')).payload).toMatchObject({ reason: 'completed' });
  });
});

test.each([
  [1, 0],
  [600, 0],
  [0.5, 40001],
  [0, 40001],
  [601, 40001],
  ['30', 40001],
])('a time-out of %j s is answered with %i', async (timeout, code) => {
  const hooks = [{ event: 'Stop', command: 'true', timeout }];
  expect(await world.api('POST', '/config', { hooks })).toMatchObject({
    code,
    ...(code === 0 ? {} : { details: [{ path: 'hooks.0.timeout' }] }),
  });
});

test('the environment has no secrets and disables prompting', async () => {
  const name = fresh('environment');
  await configure({
    event: 'TurnStarted',
    command: `env > ${name}.part; pwd >> ${name}.part; mv ${name}.part ${name}`,
  });
  const talk = await startTalk(world);
  await talk.turn('go', [{ text: 'Done.' }]);
  const lines = (await written(name)).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining(['SHOWN=shown', 'NO_COLOR=1', 'TERM=dumb', 'GIT_TERMINAL_PROMPT=0', world.project]),
  );
  expect(lines.join('\n')).not.toContain('hidden');
});

test('a session sends a heartbeat every minute while such hooks are configured, also later ones', async () => {
  const clock = manualClock();
  const other = await startWorld({ clock });
  try {
    const talk = await startTalk(other);
    await talk.turn('go', [{ text: 'ok' }]);
    const waits = clock.waits().length;
    const beats = async () =>
      (await readFile(join(other.project, 'beats'), 'utf8').catch(() => '')).split('\n').length - 1;
    const setHooks = async (...hooks: Entry[]) => {
      await other.ok('POST', '/config', { hooks });
      clock.advance(CHANGE_WINDOW_MS);
    };
    await setHooks({ event: 'SessionHeartbeat', command: `{ tr -d '\\n'; echo; } >> beats` });
    await talk.turn('again', [{ text: 'ok' }]);
    // One more, and one less, because the refresh of models at the start has run meanwhile.
    expect(clock.waits()).toHaveLength(waits);
    clock.advance(60_000);
    await expect.poll(beats).toBe(1);
    clock.advance(60_000);
    await expect.poll(beats).toBe(2);
    await setHooks();
    clock.advance(60_000);
    await talk.turn('once more', [{ text: 'ok' }]);
    // Also without the timer of that refresh, and that of the new journal, which has been synced meanwhile.
    expect(clock.waits()).toHaveLength(waits - 2);
    expect(await beats()).toBe(2);
  } finally {
    await other.close();
  }
});
