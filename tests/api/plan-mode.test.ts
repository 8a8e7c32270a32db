/** Plan mode: entering and leaving, allowed writes, the review of a plan and the effects of its answers. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FULL_AFTER_ANSWERS, SHORT_AFTER_ANSWERS } from '#server/features/plan-mode/reminders.ts';
import { INTERACTION_LIFETIME_MS } from '#server/interactions/interactions.ts';
import { statusSchema } from '#schema/rest/session.ts';
import { plansSchema, transcriptPageSchema } from '#schema/rest/transcript.ts';
import { manualClock } from '#support/manual-clock.ts';
import type { Script } from '#support/model-server.ts';
import { call, callThenText, resumeTalk, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const done: Script = { text: 'Done.' };
const PLAN = '# Plan\n1. Look\n2. Leap\n';

const setPlanMode = (talk: Talk, plan_mode: boolean) =>
  world.ok('POST', `${talk.path}/profile`, { agent_config: { plan_mode } });
const planMode = async (talk: Talk) => (await talk.status()).plan_mode;
const plans = async (talk: Talk, more = '') =>
  plansSchema.parse(await world.ok('GET', `${talk.path}/transcript/plan?agent_id=main${more}`)).plans;
const main = async (talk: Talk) =>
  transcriptPageSchema.parse(await world.ok('GET', `${talk.path}/transcript?agent_id=main`));
const markers = async (talk: Talk) =>
  (await main(talk)).items.flatMap((item) => (item.kind === 'marker' ? [item.marker] : []));

/** Status events about plan mode, in order. */
const told = (talk: Talk) =>
  talk.events.frames
    .filter(({ type, payload }) => type === 'agent.status.updated' && 'planMode' in payload)
    .map(({ payload }) => payload.planMode);

/** Lets the model enter plan mode; returns the path of the plan file. */
async function enter(talk: Talk, more: Record<string, unknown> = {}): Promise<string> {
  const { results } = await talk.turn('plan it', callThenText('EnterPlanMode', {}), more);
  const [, path = ''] = /^Plan mode is on\. Write the plan to (.+)\.$/.exec(results[0]?.output ?? '') ?? [];
  expect(path).not.toBe('');
  return path;
}

/** Opens a session in plan mode with a plan. */
async function planned(text = PLAN): Promise<{ talk: Talk; path: string }> {
  const talk = await startTalk(world);
  const path = await enter(talk);
  await writeFile(path, text);
  return { talk, path };
}

/** Lets the model present the plan; the turn waits for the answer. */
async function present(talk: Talk, args: object = {}, after: Script[] = [done], n = 1) {
  const { prompt_id } = await talk.prompt('present it', [{ calls: [call('ExitPlanMode', args)] }, ...after]);
  const approval = await talk.approval(n);
  return {
    approval,
    async answer(body: Record<string, unknown>) {
      await talk.answer(approval.approval_id, body);
      await talk.settled(prompt_id);
      const result = talk.all('tool.result').findLast(({ payload }) => payload.toolCallId === approval.tool_call_id);
      return {
        output: String(result?.payload.output),
        isError: result?.payload.isError === true,
        on: await planMode(talk),
        /** Steps of the turn: one if it stopped. */
        steps: talk.all('turn.step.started').filter(({ payload }) => payload.turnId === approval.turn_id).length,
        reason: talk.all('turn.ended').at(-1)?.payload.reason,
      };
    },
  };
}

describe('entering', () => {
  test('by the tool, without approval; in status, transcript and status events', async () => {
    const talk = await startTalk(world);
    expect(await planMode(talk)).toBe(false);
    const path = await enter(talk);
    expect(talk.all('event.approval.requested')).toEqual([]);
    expect(talk.all('tool.call.started')[0]?.payload).toMatchObject({ description: 'Entering plan mode', args: {} });
    expect(talk.all('tool.call.started')[0]?.payload).not.toHaveProperty('display');
    expect(await planMode(talk)).toBe(true);
    expect(told(talk)).toEqual([true]);
    expect(path).toMatch(/\/agents\/main\/plans\/[a-z]+-[a-z]+-\d{4}\.md$/);
    expect(path.startsWith(join(world.server.home, 'sessions'))).toBe(true);
    expect((await stat(dirname(path))).isDirectory()).toBe(true);
    expect(existsSync(path)).toBe(false);
    expect((await main(talk)).meta).toMatchObject({ modes: { plan: {} } });
    expect(await markers(talk)).toEqual(['plan.enter']);
  });

  test('a second time is an error of the call', async () => {
    const talk = await startTalk(world);
    await enter(talk);
    const { results } = await talk.turn('again', callThenText('EnterPlanMode', {}));
    expect(results).toMatchObject([{ output: 'Plan mode is on already.', isError: true }]);
    const { results: strict } = await talk.turn('again', callThenText('EnterPlanMode', { why: 'so' }));
    expect(strict).toMatchObject([{ isError: true, output: expect.stringContaining('Invalid arguments') }]);
  });

  test('and leaving by the profile is repeatable, without durable events', async () => {
    const talk = await startTalk(world);
    await talk.turn('hi', [done]);
    const { as_of_seq } = await world.snapshot(talk.session.id);
    for (const on of [true, true, false, false, true]) {
      await setPlanMode(talk, on);
      expect(await planMode(talk)).toBe(on);
    }
    expect((await world.snapshot(talk.session.id)).as_of_seq).toBe(as_of_seq);
    await expect.poll(() => told(talk)).toEqual([true, false, true]);
    expect(await markers(talk)).toEqual(['plan.enter', 'plan.exit', 'plan.enter']);
  });

  test('by the profile creates the agent of a new session; setting the same mode does not', async () => {
    const talk = await startTalk(world);
    await setPlanMode(talk, false);
    expect(talk.all('agent.created')).toEqual([]);
    await setPlanMode(talk, true);
    await talk.nth('agent.created', 1);
    await expect.poll(() => told(talk)).toEqual([true]);
  });

  test('by a prompt’s plan_mode is ignored', async () => {
    const talk = await startTalk(world);
    await talk.turn('hi', [done], { plan_mode: true });
    expect(await planMode(talk)).toBe(false);
  });

  test('takes effect while a turn runs', async () => {
    const talk = await startTalk(world);
    const held = world.model.enqueue({ calls: [call('Write', { path: 'b.txt', content: 'x' })], hold: true });
    const { prompt_id } = await talk.prompt('go', [done]);
    await held.sent;
    await setPlanMode(talk, true);
    held.release();
    await talk.settled(prompt_id);
    expect(talk.all('tool.result')[0]?.payload).toMatchObject({ isError: true });
    expect(existsSync(join(world.project, 'b.txt'))).toBe(false);
    expect(wireMessages(world, -1).map(wireText).at(-1)).toContain('Plan mode is on');
  });
});

describe('default_plan_mode', () => {
  let own: World;
  beforeAll(async () => {
    own = await startWorld({ config: { default_plan_mode: true } });
  });
  afterAll(() => own.close());
  const status = async (talk: Talk) => statusSchema.parse(await own.ok('GET', `${talk.path}/status`)).plan_mode;

  test('is reported before the first use, applies from it on, and can be left like any plan mode', async () => {
    const talk = await startTalk(own);
    expect(await status(talk)).toBe(true);
    await own.restart();
    const cold = await resumeTalk(own, talk.session);
    expect(await status(cold)).toBe(true);
    await cold.turn('hi', [done]);
    expect(await status(cold)).toBe(true);
    expect(told(cold)).toEqual([true]);
    expect(wireMessages(own, -1).map(wireText).join('\n')).toContain('Plan mode is on');
    await own.ok('POST', `${talk.path}/profile`, { agent_config: { plan_mode: false } });
    expect(await status(cold)).toBe(false);
    // A restart does not apply the default again.
    await own.restart();
    const later = await resumeTalk(own, talk.session);
    await later.turn('hi again', [done]);
    expect(await status(later)).toBe(false);
  });

  test('can be left before the first use', async () => {
    const talk = await startTalk(own);
    await own.ok('POST', `${talk.path}/profile`, { agent_config: { plan_mode: true } });
    expect(talk.all('agent.created')).toEqual([]);
    await own.ok('POST', `${talk.path}/profile`, { agent_config: { plan_mode: false } });
    expect(await status(talk)).toBe(false);
  });
});

describe('allowed writes', () => {
  const write = (path: string, content = 'x') => callThenText('Write', { path, content });

  test('include the plan file, without approval and regardless of rules; edits, too', async () => {
    const own = await startWorld({
      config: {
        permission: {
          rules: [
            { decision: 'deny', pattern: 'Write' },
            { decision: 'ask', pattern: 'Edit' },
          ],
        },
      },
    });
    try {
      const talk = await startTalk(own);
      const path = await enter(talk);
      const { results } = await talk.turn('write', write(path, PLAN));
      expect(results).toMatchObject([{ isError: false }]);
      const edit = { path, old_string: 'Leap', new_string: 'Walk' };
      expect((await talk.turn('edit', callThenText('Edit', edit))).results).toMatchObject([{ isError: false }]);
      expect(await readFile(path, 'utf8')).toBe('# Plan\n1. Look\n2. Walk\n');
      expect(talk.all('event.approval.requested')).toEqual([]);
    } finally {
      await own.close();
    }
  });

  test('include no other file, in any mode', async () => {
    const talk = await startTalk(world);
    const path = await enter(talk);
    for (const permission_mode of ['manual', 'yolo', 'auto']) {
      const { results } = await talk.turn('write', write('new.txt'), { permission_mode });
      expect(results).toMatchObject([{ isError: true, output: expect.stringContaining(path) }]);
      const edit = { path: 'a.txt', old_string: 'hello', new_string: 'bye' };
      const edited = await talk.turn('edit', callThenText('Edit', edit), { permission_mode });
      expect(edited.results).toMatchObject([{ isError: true, output: expect.stringContaining('Plan mode is on') }]);
    }
    expect(existsSync(join(world.project, 'new.txt'))).toBe(false);
    expect(await readFile(join(world.project, 'a.txt'), 'utf8')).toBe('hello\n');
    expect(talk.all('event.approval.requested')).toEqual([]);
  });

  test.each<[string, (path: string) => string]>([
    ['beside it', (path) => join(dirname(path), 'other.md')],
    ['below it', (path) => join(path, 'x.md')],
    ['with a suffix', (path) => `${path}.txt`],
    ['in another case', (path) => path.replace(/plans\/(.*)$/, (_, name: string) => `plans/${name.toUpperCase()}`)],
    ['out of its directory', (path) => `${dirname(path)}/../../../state.json`],
    ['to the journal', (path) => join(dirname(path), '../../../journal.ndjson')],
    ['of another agent', (path) => path.replace('/main/', '/agent-0/')],
  ])('exclude a path %s', async (_what, wrong) => {
    const { talk, path } = await planned();
    const { results } = await talk.turn('write', write(wrong(path)));
    expect(results).toMatchObject([{ isError: true }]);
    expect(await readFile(path, 'utf8')).toBe(PLAN);
  });

  test('include the plan file under another path', async () => {
    const { talk, path } = await planned();
    const around = `${dirname(path)}/../plans/./${relative(dirname(path), path)}`;
    await talk.turn('read', callThenText('Read', { path: around }));
    expect((await talk.turn('write', write(around, 'new'))).results).toMatchObject([{ isError: false }]);
    expect(await readFile(path, 'utf8')).toBe('new');
  });

  test.each<[string, (path: string, target: string) => Promise<void>]>([
    [
      'the plan file',
      async (path, target) => {
        await rm(path, { force: true });
        await symlink(target, path);
      },
    ],
    [
      'its directory',
      async (path, target) => {
        await rm(dirname(path), { recursive: true });
        await mkdir(`${target}.d`);
        await symlink(`${target}.d`, dirname(path));
      },
    ],
  ])('do not follow a link in place of %s, whose target is not shown', async (_what, plant) => {
    const { talk, path } = await planned();
    const target = join(world.project, `victim-${talk.session.id}`);
    await writeFile(target, 'precious');
    await plant(path, target);
    const written = await talk.turn('write', write(path));
    expect(written.results).toMatchObject([{ isError: true, output: expect.stringContaining('Plan mode is on') }]);
    const { results } = await talk.turn('present', callThenText('ExitPlanMode', {}));
    expect(results).toMatchObject([{ isError: true }]);
    expect(results[0]?.output).not.toContain('precious');
    expect(await readFile(target, 'utf8')).toBe('precious');
    expect(talk.all('event.approval.requested')).toEqual([]);
    expect(talk.all('plan.revision')).toEqual([]);
  });

  test('do not follow a link elsewhere to a secret', async () => {
    const { talk } = await planned();
    const link = join(world.project, `link-${talk.session.id}`);
    await symlink(join(world.server.home, 'server.token'), link);
    expect((await talk.turn('write', write(link))).results).toMatchObject([{ isError: true }]);
  });

  test('of commands follow the usual permissions', async () => {
    const talk = await startTalk(world);
    await enter(talk);
    const { prompt_id } = await talk.prompt('run', callThenText('Bash', { command: 'touch made' }));
    await talk.answer((await talk.approval()).approval_id, { decision: 'approved' });
    await talk.settled(prompt_id);
    expect(existsSync(join(world.project, 'made'))).toBe(true);
  });

  test('are decided for the whole response: leaving in it allows no writes', async () => {
    const { talk } = await planned();
    const calls = [call('ExitPlanMode', {}, 'exit'), call('Write', { path: 'c.txt', content: 'x' }, 'write')];
    const { results } = await talk.turn('go', [{ calls }, done], { permission_mode: 'auto' });
    expect(results.map(({ toolCallId, isError }) => [toolCallId, isError])).toEqual([
      ['write', true],
      ['exit', false],
    ]);
    expect(existsSync(join(world.project, 'c.txt'))).toBe(false);
  });

  test('a plan written in the same response is not presented', async () => {
    const { talk, path } = await planned();
    await talk.turn('read', callThenText('Read', { path }));
    const calls = [call('Write', { path, content: 'new plan' }, 'write'), call('ExitPlanMode', {}, 'exit')];
    const { results } = await talk.turn('go', [{ calls }, done]);
    expect(results.map(({ toolCallId, isError }) => [toolCallId, isError])).toEqual([
      ['exit', true],
      ['write', false],
    ]);
    expect(talk.all('event.approval.requested')).toEqual([]);
    expect(await planMode(talk)).toBe(true);
  });
});

describe('a plan', () => {
  test.each<[string, object]>([
    ['no option', { options: [] }],
    ['four options', { options: [...'ABCD'].map((label) => ({ label })) }],
    ['an empty label', { options: [{ label: '' }] }],
    ['a long label', { options: [{ label: 'x'.repeat(81) }] }],
    ['a label twice', { options: [{ label: 'A' }, { label: 'A' }] }],
    ['Approve', { options: [{ label: 'Approve' }] }],
    ['Reject', { options: [{ label: 'Reject' }] }],
    ['Revise', { options: [{ label: 'Revise' }] }],
    ['Reject and Exit', { options: [{ label: 'Reject and Exit' }] }],
    ['another member', { plan: 'x' }],
    ['another member of an option', { options: [{ label: 'A', value: 1 }] }],
  ])('with %s is not presented', async (_what, args) => {
    const { talk } = await planned();
    const { results } = await talk.turn('go', callThenText('ExitPlanMode', args));
    expect(results).toMatchObject([{ isError: true, output: expect.stringContaining('Invalid arguments') }]);
    expect(talk.all('plan.revision')).toEqual([]);
  });

  test('that is missing, blank, too long or a directory is an error without a review', async () => {
    const talk = await startTalk(world);
    const outside = await talk.turn('go', callThenText('ExitPlanMode', {}));
    expect(outside.results).toMatchObject([{ isError: true, output: expect.stringContaining('not on') }]);
    const path = await enter(talk);
    const exit = async () => (await talk.turn('go', callThenText('ExitPlanMode', {}))).results[0];
    expect(await exit()).toMatchObject({ isError: true, output: expect.stringContaining('There is no plan') });
    await writeFile(path, ' \n\t');
    expect(await exit()).toMatchObject({ isError: true, output: expect.stringContaining('is empty') });
    await writeFile(path, 'x'.repeat(256 * 1024 + 1));
    expect(await exit()).toMatchObject({ isError: true, output: expect.stringContaining('256 KiB') });
    await rm(path);
    await mkdir(path);
    expect(await exit()).toMatchObject({ isError: true, output: expect.stringContaining('no regular file') });
    for (const { payload } of talk
      .all('tool.call.started')
      .filter(({ payload: { name } }) => name === 'ExitPlanMode')) {
      expect(payload).toMatchObject({ description: 'Presenting plan and exiting plan mode' });
      expect(payload).not.toHaveProperty('display');
    }
    expect(talk.all('event.approval.requested')).toEqual([]);
    expect(await plans(talk)).toEqual([]);
    expect(await planMode(talk)).toBe(true);
  });

  test('is stored as a revision, regardless of its length; version numbers continue', async () => {
    const { talk, path } = await planned('x');
    const revision = async (text: string, n: number) => {
      await writeFile(path, text);
      const { answer, approval } = await present(talk, {}, [done], n);
      expect(approval.tool_input_display).toEqual({ kind: 'plan_review', plan: text, path });
      await answer({ decision: 'rejected', selected_label: 'Revise' });
      const { payload } = await talk.nth('plan.revision', n);
      const { sha256, bytes, version, id, path: told } = payload;
      expect({ sha256, bytes, version, path: told }).toEqual({
        sha256: createHash('sha256').update(text).digest('hex'),
        bytes: Buffer.byteLength(text),
        version: n,
        path,
      });
      expect(path.endsWith(`/${String(id)}.md`)).toBe(true);
      expect(await readFile(join(dirname(path), '../../../blobs', String(sha256)), 'utf8')).toBe(text);
      expect((await main(talk)).meta).toMatchObject({ modes: { plan: { reviewPath: path, version: n } } });
    };
    await revision('x', 1);
    await revision(`é ${'long '.repeat(40_000)}`, 2);
    await revision('x', 3);
    expect((await plans(talk)).map(({ plan }) => plan.length)).toEqual([1, 200_002, 1]);
    // Another plan mode continues the file and its version numbers.
    await setPlanMode(talk, false);
    await setPlanMode(talk, true);
    await revision('again', 4);
  });
});

describe('the review', () => {
  const two = { options: [{ label: 'Fast', description: 'In a day.' }, { label: 'Thorough' }] };

  test('is an approval with the plan; the snapshot and the session report it as pending', async () => {
    const { talk, path } = await planned();
    const { approval, answer } = await present(talk, two);
    expect(approval).toMatchObject({
      agent_id: 'main',
      tool_name: 'ExitPlanMode',
      action: 'Presenting plan and exiting plan mode',
      tool_input_display: { kind: 'plan_review', plan: PLAN, path, ...two },
    });
    expect((await world.snapshot(talk.session.id)).pending_approvals).toEqual([approval]);
    expect(await world.ok('GET', talk.path)).toMatchObject({ busy: true, pending_interaction: 'approval' });
    const [plan] = await plans(talk);
    expect(plan).toMatchObject({ source: 'interaction', plan: PLAN, path, ...two, review: { state: 'pending' } });
    await answer({ decision: 'approved', selected_label: 'Fast' });
    expect(await plans(talk)).toEqual([{ ...plan, review: { state: 'approved', selected_option: 'Fast' } }]);
  });

  test.each<[string, object, object | undefined]>([
    ['none', {}, undefined],
    ['one', { options: [{ label: 'Only' }] }, undefined],
    ['two', two, two.options],
  ])('%s of the options: displayed if there are at least two', async (_what, args, shown) => {
    const { talk } = await planned();
    const { approval, answer } = await present(talk, args);
    expect('options' in approval.tool_input_display ? approval.tool_input_display.options : undefined).toEqual(shown);
    await answer({ decision: 'cancelled' });
  });

  test('approved: plan mode ends, the model receives the plan', async () => {
    const { talk, path } = await planned();
    const { answer } = await present(talk);
    const { output, ...rest } = await answer({ decision: 'approved', selected_label: 'Unknown', scope: 'session' });
    expect(rest).toEqual({ isError: false, on: false, steps: 2, reason: 'completed' });
    expect(output).toContain(`\nPlan saved to: ${path}\n`);
    expect(output).toContain(`\n## Approved Plan:\n${PLAN}`);
    expect(output).not.toContain('Selected approach');
    expect(told(talk)).toEqual([true, false]);
    expect((await main(talk)).meta).not.toHaveProperty('modes');
    expect(await markers(talk)).toEqual(['plan.enter', 'plan.revision', 'plan.exit']);
    // The approval is not remembered: the next plan needs its own.
    await setPlanMode(talk, true);
    const again = await present(talk, {}, [done], 2);
    await again.answer({ decision: 'cancelled' });
  });

  test('approved with an option: the approach is named', async () => {
    const { talk } = await planned();
    const { answer } = await present(talk, two);
    const { output, on } = await answer({ decision: 'approved', selected_label: 'Thorough' });
    expect(output).toContain('Selected approach: Thorough');
    expect(on).toBe(false);
  });

  test.each<[string, Record<string, unknown>, object, string]>([
    [
      'rejected with "Reject and Exit"',
      { decision: 'rejected', selected_label: 'Reject and Exit', feedback: 'never' },
      { isError: true, on: false, steps: 1 },
      'The user says: never',
    ],
    [
      'rejected with "Revise"',
      { decision: 'rejected', selected_label: 'Revise' },
      { isError: false, on: true, steps: 2 },
      'revised',
    ],
    [
      'rejected with feedback',
      { decision: 'rejected', feedback: 'more tests' },
      { isError: false, on: true, steps: 2 },
      'The user says: more tests',
    ],
    ['rejected plainly', { decision: 'rejected' }, { isError: true, on: true, steps: 1 }, 'rejected the plan'],
    [
      'rejected with an unknown label',
      { decision: 'rejected', selected_label: 'revise' },
      { isError: true, on: true, steps: 1 },
      'rejected the plan',
    ],
    ['cancelled', { decision: 'cancelled' }, { isError: false, on: true, steps: 2 }, 'dismissed'],
  ])('%s', async (_what, body, expected, text) => {
    const { talk } = await planned();
    const { answer } = await present(talk, two, 'steps' in expected && expected.steps === 2 ? [done] : []);
    const { output, ...rest } = await answer(body);
    expect(rest).toEqual({ ...expected, reason: 'completed' });
    expect(output).toContain(text);
    const state = body.decision as string;
    expect((await plans(talk))[0]?.review).toEqual({
      state,
      ...(body.selected_label ? { selected_option: body.selected_label } : {}),
      ...(body.feedback ? { feedback: body.feedback } : {}),
    });
  });

  test('is found by its call; other calls are no plan reviews', async () => {
    const { talk } = await planned();
    const first = await present(talk, {}, [done]);
    await first.answer({ decision: 'rejected', feedback: 'more' });
    const second = await present(talk, two, [done], 2);
    await second.answer({ decision: 'approved' });
    const [one, other] = await plans(talk);
    expect(await plans(talk, `&tool_call_id=${first.approval.tool_call_id}`)).toEqual([one]);
    expect(await plans(talk, `&tool_call_id=${second.approval.tool_call_id}`)).toEqual([other]);
    const entered = talk.all('tool.call.started')[0]?.payload.toolCallId;
    for (const id of [String(entered), 'call_none']) {
      const path = `${talk.path}/transcript/plan?agent_id=main&tool_call_id=${id}`;
      expect(await world.api('GET', path)).toMatchObject({ code: 40416, msg: expect.stringContaining(id) });
    }
  });

  test('starts the queued prompts after it stopped the turn', async () => {
    const { talk } = await planned();
    const { answer } = await present(talk, {}, []);
    const { prompt_id } = await talk.prompt('next', [done]);
    await answer({ decision: 'rejected' });
    await talk.settled(prompt_id);
    expect(talk.all('turn.ended').at(-1)?.payload.reason).toBe('completed');
  });

  test('is requested in yolo mode too', async () => {
    const { talk } = await planned();
    await world.ok('POST', `${talk.path}/profile`, { agent_config: { permission_mode: 'yolo' } });
    const { answer } = await present(talk);
    expect(await answer({ decision: 'approved' })).toMatchObject({ on: false });
  });

  test('is skipped in auto mode, and the result reports it', async () => {
    const { talk, path } = await planned();
    const { results, frames } = await talk.turn('go', callThenText('ExitPlanMode', two), { permission_mode: 'auto' });
    expect(results).toMatchObject([{ isError: false }]);
    expect(results[0]?.output).toContain(`\n## Plan (auto-approved, not user-reviewed):\n${PLAN}`);
    expect(results[0]?.output).toContain(`\nPlan saved to: ${path}\n`);
    const types = frames.map(({ type }) => type);
    expect(types.slice(types.indexOf('plan.revision'), types.indexOf('tool.result') + 1)).toEqual([
      'plan.revision',
      'tool.call.started',
      'tool.result',
    ]);
    expect(await planMode(talk)).toBe(false);
    expect(await plans(talk)).toEqual([
      { tool_call_id: results[0]?.toolCallId, turn_id: 't1', source: 'display', plan: PLAN, path, ...two },
    ]);
  });

  test('has the content of the file at the time of the request', async () => {
    const { talk, path } = await planned();
    const { answer } = await present(talk);
    await writeFile(path, 'something else');
    const { output } = await answer({ decision: 'approved' });
    expect(output).toContain(PLAN);
    expect(output).not.toContain('something else');
  });

  test('approved after plan mode was disabled: ends plan mode a single time', async () => {
    const { talk } = await planned();
    const { answer } = await present(talk);
    await setPlanMode(talk, false);
    expect(await answer({ decision: 'approved' })).toMatchObject({ on: false, isError: false });
    expect(await markers(talk)).toEqual(['plan.enter', 'plan.revision', 'plan.exit']);
  });

  test('settles with an aborted turn; plan mode stays on', async () => {
    const { talk } = await planned();
    const { approval } = await present(talk, {}, []);
    await world.ok('POST', `${talk.path}:abort`);
    await talk.nth('prompt.aborted', 1);
    expect(
      await world.api('POST', `${talk.path}/approvals/${approval.approval_id}`, { decision: 'approved' }),
    ).toMatchObject({ code: 40902 });
    expect(talk.all('event.approval.resolved')[0]?.payload).toMatchObject({ decision: 'cancelled' });
    expect(talk.all('tool.call.started')).toHaveLength(1);
    expect(await planMode(talk)).toBe(true);
    expect((await plans(talk))[0]).toMatchObject({ plan: PLAN, review: { state: 'cancelled' } });
  });

  test('expires as dismissed', async () => {
    const clock = manualClock();
    const own = await startWorld({ clock });
    try {
      const talk = await startTalk(own);
      await writeFile(await enter(talk), PLAN);
      const { prompt_id } = await talk.prompt('go', callThenText('ExitPlanMode', {}));
      await talk.nth('event.approval.requested', 1);
      clock.advance(INTERACTION_LIFETIME_MS);
      await talk.settled(prompt_id);
      expect(talk.all('tool.result').at(-1)?.payload.output).toContain('dismissed');
      expect((await talk.status()).plan_mode).toBe(true);
    } finally {
      await own.close();
    }
  });

  test('is refused by a deny rule before a revision is stored', async () => {
    const rules = [{ decision: 'deny', pattern: 'ExitPlanMode' }];
    const own = await startWorld({ config: { permission: { rules } } });
    try {
      const talk = await startTalk(own);
      await writeFile(await enter(talk), PLAN);
      const { results } = await talk.turn('go', callThenText('ExitPlanMode', {}));
      expect(results).toMatchObject([{ isError: true, output: expect.stringContaining('denied') }]);
      expect(talk.all('plan.revision')).toEqual([]);
    } finally {
      await own.close();
    }
  });
});

describe('after a restart', () => {
  test('plan mode, its file and the versions continue; the transcript is the same', async () => {
    const { talk, path } = await planned();
    const { answer } = await present(talk);
    await answer({ decision: 'rejected', feedback: 'more' });
    const before = { plans: await plans(talk), items: (await main(talk)).items };
    await world.restart();
    const cold = await resumeTalk(world, talk.session);
    expect(await planMode(cold)).toBe(true);
    expect({ plans: await plans(cold), items: (await main(cold)).items }).toEqual(before);
    const refused = await cold.turn('write', callThenText('Write', { path: 'd.txt', content: 'x' }));
    expect(refused.results).toMatchObject([{ isError: true }]);
    expect(told(cold)).toContain(true);
    await writeFile(path, 'better');
    const again = await present(cold, {}, [done], 2);
    expect((await cold.nth('plan.revision', 2)).payload).toMatchObject({ version: 2, path });
    expect(await again.answer({ decision: 'approved' })).toMatchObject({ on: false });
  });
});

describe('reminders', () => {
  /** The forms sent, in order. */
  const forms = (talk: Talk) =>
    talk
      .all('context.spliced')
      .flatMap(({ payload }) => payload.messages as { origin?: { variant?: string; disclosure?: { form?: string } } }[])
      .flatMap(({ origin }) => (origin?.variant === 'plan_mode' ? [origin.disclosure?.form] : []));
  const look = (n: number): Script => ({ calls: [call('Read', { path: 'a.txt', line_offset: n })] });

  test(`full on entry and after a message, short after ${SHORT_AFTER_ANSWERS} answers, full after ${FULL_AFTER_ANSWERS}`, async () => {
    const talk = await startTalk(world);
    const path = await enter(talk);
    expect(forms(talk)).toEqual(['full']);
    await talk.turn('more', [done]);
    expect(forms(talk)).toEqual(['full', 'full']);
    const looks = Array.from({ length: 8 }, (_, n) => look(n + 1));
    await talk.turn('look around', [...looks, done]);
    // Sent before the requests after 0, 2, 4, 5 and 7 answers.
    expect(forms(talk).slice(2)).toEqual(['full', 'short', 'short', 'full', 'short']);
    const reminders = wireMessages(world, -1)
      .map(wireText)
      .filter((text) => text.includes('Plan mode is'));
    for (const text of reminders) expect(text).toContain(path);
  });

  test('existing content is mentioned on entry, and the end is reported a single time', async () => {
    const { talk, path } = await planned();
    await setPlanMode(talk, false);
    await talk.turn('go on', [done]);
    await talk.turn('and on', [done]);
    expect(forms(talk)).toEqual(['full', 'exit']);
    expect(wireMessages(world, -1).map(wireText).join('\n')).toContain(`The plan is in ${path}.`);
    await setPlanMode(talk, true);
    await talk.turn('plan again', [done]);
    expect(forms(talk)).toEqual(['full', 'exit', 'reentry']);
  });

  test('a plan mode that no request has seen is not mentioned', async () => {
    const talk = await startTalk(world);
    await setPlanMode(talk, true);
    await setPlanMode(talk, false);
    await talk.turn('hi', [done]);
    expect(forms(talk)).toEqual([]);
  });

  test('leaving and entering between two requests sends the full form again', async () => {
    const talk = await startTalk(world);
    await enter(talk);
    await setPlanMode(talk, false);
    await setPlanMode(talk, true);
    await talk.turn('hi', [done]);
    expect(forms(talk)).toEqual(['full', 'full']);
    await setPlanMode(talk, false);
    await setPlanMode(talk, true);
    await setPlanMode(talk, false);
    await talk.turn('hi', [done]);
    expect(forms(talk)).toEqual(['full', 'full', 'exit']);
  });
});
