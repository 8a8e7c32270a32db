/** Approvals: the object, answers, other ways to settle, modes and rules. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { INTERACTION_LIFETIME_MS } from '#server/interactions/interactions.ts';
import { approvalBefore } from '#support/call-fate.ts';
import { manualClock } from '#support/manual-clock.ts';
import { call, callThenText, resumeTalk, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
let outside: string;
beforeAll(async () => {
  world = await startWorld();
  outside = join(dirname(world.project), 'outside.txt');
  await writeFile(outside, 'outside\n');
});
afterAll(() => world.close());

const bash = (command: string) => callThenText('Bash', { command });
const resolve = (talk: Talk, id: string, body: unknown) => world.api('POST', `${talk.path}/approvals/${id}`, body);

/** A turn whose calls need `decisions.length` approvals, answered in this order. */
async function decided(talk: Talk, scripts: Parameters<Talk['turn']>[1], ...decisions: Record<string, unknown>[]) {
  const before = talk.all('event.approval.requested').length;
  const turn = talk.turn('go', scripts);
  for (const [i, decision] of decisions.entries()) {
    await talk.answer((await talk.approval(before + i + 1)).approval_id, decision);
  }
  const done = await turn;
  expect(talk.all('event.approval.requested')).toHaveLength(before + decisions.length);
  return done;
}

describe('the object', () => {
  test('is in the list, the snapshot and the event', async () => {
    const talk = await startTalk(world);
    const turn = talk.turn('go', bash('echo hi'));
    const approval = await talk.approval();
    expect(approval).toEqual({
      approval_id: expect.stringMatching(
        /^approval_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      ),
      session_id: talk.session.id,
      agent_id: 'main',
      turn_id: 0,
      tool_call_id: 'call_1',
      tool_name: 'Bash',
      action: 'Running: echo hi',
      tool_input_display: { kind: 'command', command: 'echo hi', cwd: world.project, language: 'bash' },
      created_at: expect.any(String),
      expires_at: expect.any(String),
    });
    expect(Object.keys(approval).slice(0, 3)).toEqual(['approval_id', 'session_id', 'agent_id']);
    expect(Date.parse(approval.expires_at) - Date.parse(approval.created_at)).toBe(86_400_000);
    expect((await world.snapshot(talk.session.id)).pending_approvals).toEqual([approval]);
    expect((await talk.nth('event.approval.requested', 1)).payload).toMatchObject(approval);
    expect((await talk.nth('permission.approval.requested', 1)).payload).toMatchObject({
      id: approval.approval_id,
      toolInput: { command: 'echo hi' },
    });
    expect(await world.ok('GET', talk.path)).toMatchObject({ busy: true, pending_interaction: 'approval' });
    await talk.answer(approval.approval_id, { decision: 'approved' });
    await turn;
    expect(await world.approvals(talk.session.id)).toEqual([]);
    expect(await world.ok('GET', talk.path)).toMatchObject({ pending_interaction: 'none' });
  });

  test.each([
    ['git status \u2067; touch x \u2066# docs', 'git status <U+2067>; touch x <U+2066># docs'],
    ['\u0435cho a\r\u200bb', '<U+0435>cho a<U+000D><U+200B>b'],
    ['echo a \n\t b', 'echo a b'],
    ['echo "שלום" привет 日本語text 👩‍👧', 'echo "שלום" привет 日本語text 👩‍👧'],
  ])('labels %j with hidden and mixed-script characters as escapes, also at the start', async (command, label) => {
    const talk = await startTalk(world);
    const turn = talk.turn('go', bash(command));
    const { approval_id, action, tool_input_display } = await talk.approval();
    expect(action).toBe(`Running: ${label}`);
    expect(tool_input_display).toMatchObject({ command });
    await talk.answer(approval_id, { decision: 'approved' });
    await turn;
    expect(talk.all('tool.call.started')[0]?.payload).toMatchObject({ description: action, args: { command } });
  });

  test('calls of one response are submitted for approval sequentially, in call order, and run after all are decided', async () => {
    const talk = await startTalk(world);
    const calls = [call('Bash', { command: 'echo 1' }), call('Bash', { command: 'echo 2' })];
    const turn = talk.turn('go', [{ calls }, { text: 'Done.' }]);
    const first = await talk.approval(1);
    expect(await world.approvals(talk.session.id)).toHaveLength(1);
    await talk.answer(first.approval_id, { decision: 'approved' });
    const second = await talk.approval(2);
    expect(second.tool_call_id).toBe('call_2');
    expect(talk.all('tool.call.started').map(({ payload }) => payload.toolCallId)).toEqual(['call_1']);
    expect(talk.all('tool.result')).toEqual([]);
    await talk.answer(second.approval_id, { decision: 'approved' });
    expect((await turn).results.map(({ output }) => output)).toEqual(['1\n', '2\n']);
  });

  test.each(['', '?status=resolved', '?status='])('the list requires status=pending, got "%s"', async (query) => {
    expect(await world.api('GET', `/sessions/none/approvals${query}`)).toMatchObject({
      code: 40001,
      msg: 'status: Invalid input: expected "pending"',
    });
  });

  test('the list of an unknown session is refused', async () => {
    expect(await world.api('GET', '/sessions/none/approvals?status=pending')).toMatchObject({ code: 40401 });
  });
});

describe('an answer', () => {
  test.each<[string, unknown, string]>([
    ['no decision', {}, 'decision'],
    ['an unknown decision', { decision: 'yes' }, 'decision'],
    ['an unknown scope', { decision: 'approved', scope: 'always' }, 'scope'],
    ['null feedback', { decision: 'rejected', feedback: null }, 'feedback'],
    ['a null label', { decision: 'approved', selected_label: null }, 'selected_label'],
  ])('%s is refused before the session is looked up', async (_what, body, path) => {
    expect(await world.api('POST', '/sessions/none/approvals/a', body)).toMatchObject({
      code: 40001,
      details: [{ path }],
    });
  });

  test('is refused for unknown sessions and ids, also with a suffix', async () => {
    const talk = await startTalk(world);
    const body = { decision: 'approved' };
    expect(await world.api('POST', '/sessions/none/approvals/a', body)).toMatchObject({ code: 40401 });
    for (const id of ['a', 'a:b', 'a:approve']) {
      expect(await resolve(talk, id, body)).toMatchObject({ code: 40404, msg: `approval ${id} not found`, data: null });
    }
  });

  test('approved: the call runs; the reply does not wait for it', async () => {
    const talk = await startTalk(world);
    const turn = talk.turn('go', bash('sleep 0.2; echo late'));
    const { approval_id: id } = await talk.approval();
    const data = await talk.answer(id, { decision: 'approved', feedback: '', selected_label: 'ok' });
    expect(data).toEqual({ resolved: true, resolved_at: expect.stringMatching(/Z$/) });
    expect(talk.all('tool.result')).toEqual([]);
    expect((await turn).results).toEqual([{ toolCallId: 'call_1', output: 'late\n', isError: false }]);
    const { payload } = await talk.nth('event.approval.resolved', 1);
    expect(payload).toMatchObject({ approval_id: id, decision: 'approved', selected_label: 'ok' });
    // Empty text is treated as absent.
    expect(payload).not.toHaveProperty('feedback');
    expect(payload).not.toHaveProperty('scope');
  });

  test.each([
    ['rejected', /rejected/],
    ['cancelled', /cancelled/],
  ])('%s: the call does not run, the model receives the reason, the turn continues', async (decision, wording) => {
    const talk = await startTalk(world);
    const { results, ended, frames } = await decided(talk, bash('touch never'), { decision, feedback: 'use make' });
    expect(results).toEqual([{ toolCallId: 'call_1', isError: true, output: expect.stringMatching(wording) }]);
    expect(results[0]?.output).toMatch(/ Reason: use make$/);
    expect(ended.reason).toBe('completed');
    await expect(readFile(join(world.project, 'never'))).rejects.toThrow('ENOENT');
    const types = frames.map(({ type }) => type);
    const at = types.indexOf('event.approval.resolved');
    expect(types.slice(at - 1, at + 4)).toEqual([
      'event.session.work_changed',
      'event.approval.resolved',
      'permission.approval.resolved',
      'tool.call.started',
      'tool.result',
    ]);
    expect(wireText(wireMessages(world, -1).find(({ role }) => role === 'tool') ?? { role: 'tool' })).toContain(
      'use make',
    );
  });

  test('only the first answer is accepted', async () => {
    const talk = await startTalk(world);
    const turn = talk.turn('go', bash('echo one'));
    const { approval_id: id } = await talk.approval();
    const answers = await Promise.all(
      ['approved', 'rejected', 'cancelled'].map((decision) => resolve(talk, id, { decision })),
    );
    expect(answers.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([0, 40902, 40902]);
    await turn;
    await talk.turn('more', [{ text: 'later' }]);
    expect(await resolve(talk, id, { decision: 'approved' })).toMatchObject({
      code: 40902,
      msg: `approval ${id} already resolved`,
      data: { resolved: false },
    });
    expect(talk.all('event.approval.resolved')).toHaveLength(1);
  });

  test('is too late after a restart, too', async () => {
    const talk = await startTalk(world);
    await decided(talk, bash('echo x'), { decision: 'approved' });
    const id = String(talk.all('event.approval.resolved')[0]?.payload.approval_id);
    await world.restart();
    expect(await resolve(talk, id, { decision: 'approved' })).toMatchObject({
      code: 40902,
      msg: `approval ${id} already resolved`,
      data: { resolved: false },
    });
  });
});

describe('approved for the session', () => {
  const session = { decision: 'approved', scope: 'session' };

  test('applies to the same command only; survives a restart and is limited to its session', async () => {
    const talk = await startTalk(world);
    await decided(talk, bash('echo a*'), session);
    expect(talk.all('event.approval.resolved')[0]?.payload).toMatchObject({ scope: 'session' });
    await decided(talk, bash('echo a*'));
    // The star is literal, not a pattern.
    await decided(talk, bash('echo abc'), { decision: 'rejected' });
    await world.restart();
    const again = await resumeTalk(world, talk.session);
    await again.nth('event.approval.requested', 2);
    const { results } = await decided(again, bash('echo a*'));
    expect(results[0]).toMatchObject({ output: 'a.txt\n', isError: false });
    const other = await startTalk(world);
    await decided(other, bash('echo a*'), { decision: 'rejected' });
  });

  test('applies to later calls of the same response', async () => {
    const talk = await startTalk(world);
    const calls = [call('Bash', { command: 'echo x' }), call('Bash', { command: 'echo x', description: 'again' })];
    const { results } = await decided(talk, [{ calls }, { text: 'ok' }], session);
    expect(results.map(({ output }) => output)).toEqual(['x\n', 'x\n']);
  });

  test('has an effect only with the decision approved', async () => {
    const talk = await startTalk(world);
    await decided(talk, bash('echo y'), { decision: 'rejected', scope: 'session' });
    expect(talk.all('event.approval.resolved')[0]?.payload).toMatchObject({ decision: 'rejected', scope: 'session' });
    await decided(talk, bash('echo y'), { decision: 'rejected' });
  });

  test('is overridden by a configured deny rule', async () => {
    const talk = await startTalk(world);
    await decided(talk, bash('echo z'), session);
    await world.ok('POST', '/config', { permission: { rules: [{ decision: 'deny', pattern: 'Bash(echo z)' }] } });
    try {
      const { results } = await decided(talk, bash('echo z'));
      expect(results[0]).toMatchObject({ isError: true, output: expect.stringContaining('denied') });
    } finally {
      await world.ok('POST', '/config', { permission: { rules: null } });
    }
  });
});

test('an unanswered approval expires, and the turn continues', async () => {
  const clock = manualClock();
  const short = await startWorld({ clock });
  try {
    const talk = await startTalk(short);
    const turn = talk.turn('go', bash('echo never'));
    await talk.approval();
    clock.advance(INTERACTION_LIFETIME_MS);
    const { results, ended } = await turn;
    expect(ended.reason).toBe('completed');
    expect(results).toMatchObject([
      { isError: true, output: expect.stringMatching(/cancelled.*Reason: approval timed out$/) },
    ]);
    const { payload } = await talk.nth('event.approval.resolved', 1);
    expect(payload).toMatchObject({ decision: 'cancelled', feedback: 'approval timed out' });
    const late = await short.api('POST', `${talk.path}/approvals/${String(payload.approval_id)}`, {
      decision: 'approved',
    });
    expect(late).toMatchObject({ code: 41001, msg: `approval ${String(payload.approval_id)} expired`, data: null });
  } finally {
    await short.close();
  }
});

test('a second answer, minutes and days later, is refused as already resolved', async () => {
  const clock = manualClock();
  const slow = await startWorld({ clock });
  try {
    const talk = await startTalk(slow);
    const turn = talk.turn('go', bash('echo once'));
    const { approval_id: id } = await talk.approval();
    await talk.answer(id, { decision: 'approved' });
    expect((await turn).results).toMatchObject([{ output: 'once\n' }]);
    for (const wait of [10 * 60_000, INTERACTION_LIFETIME_MS]) {
      clock.advance(wait);
      expect(await slow.api('POST', `${talk.path}/approvals/${id}`, { decision: 'rejected' })).toMatchObject({
        code: 40902,
        msg: `approval ${id} already resolved`,
        data: { resolved: false },
      });
    }
    expect(talk.all('event.approval.resolved')).toHaveLength(1);
  } finally {
    await slow.close();
  }
});

test('archiving the session settles the approval', async () => {
  const talk = await startTalk(world);
  await talk.prompt('go', bash('echo x'));
  const { approval_id: id } = await talk.approval();
  await world.ok('POST', `${talk.path}:archive`);
  expect((await talk.nth('event.approval.resolved', 1)).payload).toMatchObject({
    approval_id: id,
    decision: 'cancelled',
  });
  expect(await resolve(talk, id, { decision: 'approved' })).toMatchObject({ code: 40902 });
  await talk.turn('use up the answer', []);
});

test('changing the mode does not decide a pending approval', async () => {
  const talk = await startTalk(world);
  const turn = talk.turn('go', bash('echo x'));
  const { approval_id: id } = await talk.approval();
  await world.ok('POST', `${talk.path}/profile`, { agent_config: { permission_mode: 'yolo' } });
  expect(await world.approvals(talk.session.id)).toHaveLength(1);
  await talk.answer(id, { decision: 'approved' });
  expect((await turn).results[0]).toMatchObject({ output: 'x\n' });
});

describe('permission modes', () => {
  const cases = (): [string, string, unknown][] => [
    ['Read inside', 'Read', { path: 'a.txt' }],
    ['Read outside', 'Read', { path: outside }],
    ['Grep outside', 'Grep', { pattern: 'x', path: dirname(outside) }],
    ['Glob inside', 'Glob', { pattern: '*' }],
    ['Write inside', 'Write', { path: 'new.txt', content: 'new' }],
    ['Write outside', 'Write', { path: `${outside}.new`, content: 'new' }],
    ['Write to .git', 'Write', { path: '.git/hooks/new', content: 'x' }],
    ['Bash', 'Bash', { command: 'echo x' }],
    ['TodoList', 'TodoList', { todos: [] }],
    ['TaskList', 'TaskList', {}],
    ['TaskOutput', 'TaskOutput', { task_id: 'bash-00000000' }],
    ['TaskStop', 'TaskStop', { task_id: 'bash-00000000' }],
    ['WaitFor', 'WaitFor', { timeout: 1 }],
    ['GetGoal', 'GetGoal', {}],
    ['SetGoalBudget', 'SetGoalBudget', { value: 1, unit: 'turns' }],
    ['UpdateGoal', 'UpdateGoal', { status: 'blocked' }],
  ];
  const asked: Record<string, string[]> = {
    manual: ['Read outside', 'Grep outside', 'Write outside', 'Write to .git', 'Bash', 'TaskStop'],
    yolo: ['Write to .git'],
    auto: [],
  };

  test.each(['manual', 'yolo', 'auto'])('%s', async (mode) => {
    const found: string[] = [];
    const talk = await startTalk(world);
    await talk.turn('hi', [{ text: 'hi' }], { permission_mode: mode });
    for (const [what, tool, args] of cases()) {
      await rm(join(world.project, 'new.txt'), { force: true });
      await rm(`${outside}.new`, { force: true });
      const before = talk.all('event.approval.requested').length;
      const turn = talk.turn(what, callThenText(tool, args));
      const request = await approvalBefore(turn, talk.nth('event.approval.requested', before + 1));
      if (request) {
        found.push(what);
        await talk.answer(String(request.payload.approval_id), { decision: 'rejected' });
      }
      expect((await turn).ended.reason).toBe('completed');
    }
    expect(found).toEqual(asked[mode]);
  });

  test('a workspace without git requires approval for writes', async () => {
    const bare = join(dirname(world.project), 'bare');
    await mkdir(bare);
    const talk = await startTalk(world, { metadata: { cwd: bare } });
    await decided(talk, callThenText('Write', { path: 'a', content: 'a' }), { decision: 'approved' });
    expect(await readFile(join(bare, 'a'), 'utf8')).toBe('a');
  });

  test.each(['Read', 'Write', 'Edit'])('%s refuses files that contain secrets in every mode', async (tool) => {
    await writeFile(join(world.project, '.env'), 'KEY=1');
    const args = { Read: {}, Write: { content: 'x' }, Edit: { old_string: 'a', new_string: 'b' } }[tool];
    for (const mode of ['manual', 'yolo', 'auto']) {
      const talk = await startTalk(world);
      const { results, frames } = await talk.turn('go', callThenText(tool, { path: '.env', ...args }), {
        permission_mode: mode,
      });
      expect(results).toMatchObject([{ isError: true }]);
      expect(results[0]?.output).not.toContain('KEY=1');
      const started = frames.find(({ type }) => type === 'tool.call.started');
      expect(started?.payload).not.toHaveProperty('display');
      expect(started?.payload).not.toHaveProperty('description');
    }
  });

  test('entering and leaving auto mode adds one reminder each', async () => {
    const talk = await startTalk(world);
    const reminders = async () =>
      (await talk.messages()).flatMap(({ metadata, content: [part] }) => {
        const origin = metadata?.origin;
        const isMode = origin?.kind === 'injection' && origin.variant === 'permission_mode';
        return isMode && part?.type === 'text' ? [part.text.match(/now "(\w+)"/)?.[1]] : [];
      });
    for (const mode of ['manual', 'auto', 'auto', 'yolo', 'manual', 'auto', 'manual']) {
      await talk.turn(mode, [{ text: 'ok' }], { permission_mode: mode });
    }
    expect(await reminders()).toEqual(['auto', 'yolo', 'auto', 'manual']);
  });

  test('the default mode is the configured one', async () => {
    const careless = await startWorld({ config: { default_permission_mode: 'yolo' } });
    try {
      const talk = await startTalk(careless);
      const { results } = await talk.turn('go', bash('echo free'));
      expect(results[0]?.output).toBe('free\n');
      expect(await talk.status()).toMatchObject({ permission: 'yolo' });
    } finally {
      await careless.close();
    }
  });
});

describe('configured rules', () => {
  let ruled: World;
  beforeAll(async () => {
    ruled = await startWorld({
      config: {
        permission: {
          deny: [{ tool: 'Bash', match: 'rm *' }],
          allow: [{ pattern: 'Bash(echo *)' }],
          ask: [{ pattern: 'Write(**/*.lock)' }, { pattern: 'Read(a.txt)' }],
          rules: [{ decision: 'deny', pattern: 'Bash(curl*)', reason: 'no network' }],
        },
      },
    });
  });
  afterAll(() => ruled.close());

  /** Outcome of a call: it runs, is denied, or needs approval. */
  async function fate(tool: string, args: unknown, mode: string): Promise<string> {
    const talk = await startTalk(ruled);
    const turn = talk.turn('go', callThenText(tool, args), { permission_mode: mode });
    const request = await approvalBefore(turn, talk.nth('event.approval.requested', 1));
    if (request) await talk.answer(String(request.payload.approval_id), { decision: 'rejected' });
    const { results } = await turn;
    if (request) return 'asked';
    return /denied by the permission rules/.test(results[0]?.output ?? '') ? 'denied' : 'ran';
  }

  test.each<[string, unknown, Record<string, string>]>([
    ['Bash', { command: 'rm -rf x' }, { manual: 'denied', yolo: 'denied', auto: 'denied' }],
    ['Bash', { command: 'echo 1 && rm x' }, { manual: 'denied', auto: 'denied' }],
    ['Bash', { command: 'curl localhost' }, { manual: 'denied', yolo: 'denied' }],
    ['Bash', { command: 'echo 1; echo 2' }, { manual: 'ran' }],
    ['Bash', { command: 'echo 1; pwd' }, { manual: 'ran' }],
    ['Bash', { command: 'echo 1; ls' }, { manual: 'asked', yolo: 'ran' }],
    ['Bash', { command: 'echo $(pwd)' }, { manual: 'asked' }],
    ['Bash', { command: 'echo x > redirected' }, { manual: 'asked' }],
    ['Write', { path: 'deep/x.lock', content: '' }, { manual: 'asked', yolo: 'asked', auto: 'ran' }],
    ['Read', { path: './a.txt' }, { manual: 'asked', yolo: 'asked', auto: 'ran' }],
  ])('%s %j', async (tool, args, fates) => {
    for (const [mode, expected] of Object.entries(fates)) {
      await rm(join(ruled.project, 'deep'), { recursive: true, force: true });
      expect([mode, await fate(tool, args, mode)]).toEqual([mode, expected]);
    }
  });

  test('the model receives the reason of a rule', async () => {
    const talk = await startTalk(ruled);
    const { results } = await talk.turn('go', bash('curl x'));
    expect(results[0]?.output).toContain('no network');
  });
});
