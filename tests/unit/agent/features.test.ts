/** The hooks of a feature, each called at its point in a real turn of a real session. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { AgentContext } from '#server/agent/contract/context.ts';
import type { Feature, LiveFeature, PromptStart } from '#server/agent/contract/feature.ts';
import { reminder } from '#server/agent/prompt/reminders.ts';
import { defineFeatureProjection } from '#server/journal/projections/feature-projection.ts';
import { event, type Draft } from '#server/journal/records.ts';
import type { AddedStep } from '#server/permissions/policy.ts';
import { defineTool, type Tool } from '#server/tools/tool.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { echo } from '#support/echo-tool.ts';
import { openTalk, scriptedModel, textOf, type AgentSessionOptions, type ModelAnswer } from '#support/agent-session.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';
import { openPolicy } from '#support/policy.ts';

const folder = useTemporaryFolder();

/** A record that marks the position of a hook. */
const mark = (agent: Pick<AgentContext, 'id'>, message: string): Draft => event(agent.id, 'warning', { message });
const says = (text: string): ContextMessage => reminder('test', text);

const call = (text: string, id = `call ${text}`) => ({ id, name: 'Echo', args: { text } });
const done: ModelAnswer = { text: 'Done.' };

const feature = (live: LiveFeature, name = 'test'): Feature => ({ name, open: () => live });

async function talkWith(
  features: readonly Feature[],
  answers: ModelAnswer[] = [done],
  options: Partial<AgentSessionOptions> = {},
) {
  const { services, requests } = scriptedModel(...answers);
  const talk = await openTalk({
    dir: folder.path,
    features,
    tools: [echo],
    ...options,
    services: { ...services, ...options.services },
  });
  /** Durable events as their types, the marks as their texts. */
  const told = () => talk.durable().map(({ type, payload }) => (type === 'warning' ? String(payload.message) : type));
  return { ...talk, requests, told };
}

/** The events from `first` to `last`. */
function between(events: string[], first: string, last: string): string[] {
  const start = events.indexOf(first);
  return events.slice(start, events.indexOf(last, start) + 1);
}
const lastMessages = (requests: { messages: ContextMessage[] }[], at = -1) => requests.at(at)!.messages.map(textOf);

describe('a step', () => {
  it('starts with messages and records of the features, in the order of the list', async () => {
    const part = (name: string): Feature =>
      feature(
        {
          reminders: () => [says(`${name} reminds`)],
          onStepStart: (agent, { step }) => ({
            messages: [says(`${name} at ${step}`)],
            before: [mark(agent, `${name} before`)],
            after: [mark(agent, `${name} after`)],
          }),
        },
        name,
      );
    const talk = await talkWith([part('a'), part('b')]);
    await talk.turn('go');
    expect(between(talk.told(), 'turn.started', 'turn.step.completed').slice(2)).toEqual([
      'context.spliced',
      'context.spliced',
      'a before',
      'b before',
      'prompt.started',
      'turn.step.started',
      'a after',
      'b after',
      'turn.step.completed',
    ]);
    expect(lastMessages(talk.requests).slice(2)).toEqual(
      ['a reminds', 'b reminds', 'a at 1', 'b at 1'].map((text) => expect.stringContaining(text)),
    );
    const lines = await talk.lines();
    // The head of a step is one journal line.
    expect(lines.find((line) => line.includes('prompt.started'))).toEqual([
      'context.spliced',
      'warning',
      'warning',
      'prompt.started',
      'agent.tools',
      'turn.step.started',
      'warning',
      'warning',
    ]);
    await talk.close();
  });

  it('runs without a reminder that fails', async () => {
    const broken = feature({
      reminders() {
        throw new Error('broken');
      },
    });
    const talk = await talkWith([broken, feature({ reminders: () => [says('still here')] }, 'other')]);
    await talk.turn('go');
    expect(lastMessages(talk.requests).at(-1)).toContain('still here');
    expect(talk.reports).toEqual([expect.stringContaining('reminder')]);
    await talk.close();
  });

  it('is added before the turn ends, while a feature returns messages', async () => {
    let left = 2;
    const asked: number[] = [];
    const more = feature({
      async beforeTurnEnd(_agent, turnId) {
        asked.push(turnId);
        return left-- > 0 ? [says(`go on, ${left} left`)] : [];
      },
    });
    const talk = await talkWith([more, feature({}, 'other')], [done, { calls: [call('x')] }, done, done]);
    const types = await talk.turn('go');
    expect(types.filter((type) => type === 'turn.step.started')).toHaveLength(4);
    expect(types.filter((type) => type === 'turn.ended')).toHaveLength(1);
    expect(asked).toEqual([0, 0, 0]);
    expect(lastMessages(talk.requests, 1).at(-1)).toContain('go on, 1 left');
    expect(lastMessages(talk.requests, 3).at(-1)).toContain('go on, 0 left');
    await talk.close();
  });

  it('that a feature requests is not run when the turn is aborted meanwhile', async () => {
    let cancel = () => {};
    const stop = feature({
      async beforeTurnEnd() {
        cancel();
        return [says('never')];
      },
    });
    const talk = await talkWith([stop]);
    cancel = () => talk.main.cancelTurn();
    await talk.turn('go');
    // The step had completed, so none is interrupted.
    expect(between(talk.told(), 'turn.step.completed', 'prompt.aborted')).toEqual([
      'turn.step.completed',
      'turn.ended',
      'context.spliced',
      'event.session.work_changed',
      'prompt.aborted',
    ]);
    expect(talk.all('context.spliced').at(-1)?.payload.messages).toMatchObject([
      { origin: { variant: 'interruption' } },
    ]);
    expect(talk.requests).toHaveLength(1);
    await talk.close();
  });
});

describe('the end of a turn', () => {
  const around = feature({
    onTurnEnd: (agent, turnId, outcome) => ({
      before: [mark(agent, `before ${turnId} ${outcome}`)],
      after: [mark(agent, 'after')],
    }),
  });

  it('has records of features before and after it', async () => {
    const talk = await talkWith([around]);
    await talk.turn('go');
    expect(between(talk.told(), 'turn.step.completed', 'prompt.completed')).toEqual([
      'turn.step.completed',
      'before 0 completed',
      'turn.ended',
      'after',
      'event.session.work_changed',
      'prompt.completed',
    ]);
    await talk.close();
  });

  it('has them after its error when it failed, and before the reminder when it was aborted', async () => {
    const talk = await talkWith([around], []);
    await talk.turn('go');
    expect(between(talk.told(), 'turn.step.interrupted', 'prompt.completed')).toEqual([
      'turn.step.interrupted',
      'before 0 failed',
      'turn.ended',
      'error',
      'after',
      'event.session.work_changed',
      'prompt.completed',
    ]);
    await talk.close();
  });

  it('aborted', async () => {
    const talk = await talkWith([around], [hanging]);
    talk.submit('go');
    await talk.nth('turn.step.started');
    talk.main.cancelTurn();
    await talk.idle();
    expect(between(talk.told(), 'turn.step.interrupted', 'prompt.aborted')).toEqual([
      'turn.step.interrupted',
      'before 0 cancelled',
      'turn.ended',
      'after',
      'context.spliced',
      'event.session.work_changed',
      'prompt.aborted',
    ]);
    await talk.close();
  });
});

const hanging: ModelAnswer = ({ signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

/** An answer that arrives when `open` is called. */
function held(answer: string) {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  const script: ModelAnswer = async () => {
    await opened;
    return { parts: [{ type: 'text', text: answer }], calls: [], finishReason: 'completed' };
  };
  return { open: () => open(), script };
}

it('a feature stops a turn whose calls have their results, and receives the outcome before it is folded', async () => {
  const endings: unknown[] = [];
  const stops = feature({
    shouldStopTurn: (_agent, { step }) => step === 2,
    onTurnEnd(_agent, _turnId, outcome, { error, interruptReason, line }) {
      endings.push([outcome, error?.code, interruptReason, line.map(({ type }) => type)]);
      return {};
    },
  });
  const calls = (text: string): ModelAnswer => ({ calls: [call(text)] });
  const talk = await talkWith([stops], [calls('a'), calls('b'), done]);
  await talk.turn('go');
  await talk.turn('again');
  await talk.turn('and again');
  expect(talk.requests).toHaveLength(4);
  expect(endings).toEqual([
    ['completed', undefined, undefined, ['turn.step.completed']],
    ['completed', undefined, undefined, ['step.response', 'turn.step.completed']],
    ['failed', 'internal', 'error', ['turn.step.interrupted']],
  ]);
  await talk.close();
});

describe('an agent that several features woke in a turn', () => {
  const opening = (text: string) => ({
    origin: { kind: 'system_trigger' as const, name: text },
    messages: [says(text)],
  });

  it('runs a turn for the first callback that returns one, and drops the others', async () => {
    const woken: string[] = [];
    const wakes = feature({
      onTurnEnd(agent, turnId) {
        if (turnId > 0) return {};
        agent.wake(() => void woken.push('nothing'));
        agent.wake(() => opening('first'));
        agent.wake(() => opening('second'));
        return {};
      },
    });
    const talk = await talkWith([wakes], [done, done]);
    await talk.turn('go');
    expect(talk.all('turn.started').map(({ payload }) => payload.origin)).toEqual([
      { kind: 'user' },
      { kind: 'system_trigger', name: 'first' },
    ]);
    expect(woken).toEqual(['nothing']);
    await talk.close();
  });
});

describe('a call', () => {
  it('may be the last one of its response that runs', async () => {
    const last = defineTool({
      name: 'Last',
      permission: 'free',
      effects: 'none',
      description: '',
      parameters: z.object({}),
      prepare: () => ({
        accesses: [],
        label: 'Last',
        subject: { match: 'literal' },
        stopsBatch: true,
        run: () => Promise.resolve({ output: 'last' }),
      }),
    });
    const calls = [call('a'), { id: 'l', name: 'Last', args: {} }, call('b'), { id: 'n', name: 'None', args: {} }];
    const talk = await talkWith([], [{ calls }, done], { tools: [echo, last] });
    await talk.turn('go');
    const outputs = talk.all('tool.result').map(({ payload }) => String(payload.output));
    expect(outputs.filter((output) => output.startsWith('Skipped'))).toHaveLength(2);
    expect(outputs).toEqual(expect.arrayContaining(['a', 'last']));
    await talk.close();
  });

  it('stores records and members in addition to its result, in one journal line', async () => {
    const noting = (name: string, file: string): Feature =>
      feature(
        {
          afterToolCall: (agent, { id }, { output }) => ({
            records: [mark(agent, `${name}: ${id} gave ${String(output)}`)],
            ...(name === 'a' ? { x: { note: file } } : { x: { agentsMd: [file] } }),
          }),
        },
        name,
      );
    const talk = await talkWith([noting('a', 'one'), noting('b', 'two')], [{ calls: [call('x')] }, done]);
    await talk.turn('go');
    expect(between(talk.told(), 'tool.call.started', 'tool.result')).toEqual([
      'tool.call.started',
      'a: call x gave x',
      'b: call x gave x',
      'tool.result',
    ]);
    expect(await talk.lines()).toContainEqual(['warning', 'warning', 'tool.result']);
    expect(talk.main.context.state().agentsMd).toEqual(new Set(['two']));
    expect(talk.main.context.state().entries.find(({ message }) => message.role === 'tool')?.message.note).toBe('one');
    await talk.close();
  });

  it('may be refused by a guard, before the permission check; the guard receives the admitted calls', async () => {
    const seen: [string, number, number][] = [];
    const guard = feature({
      beforeToolCall(_agent, { call: { id }, admitted, turnId }) {
        seen.push([id, admitted.length, turnId]);
        return id === 'call b' ? 'not b' : undefined;
      },
    });
    const decided: string[] = [];
    const talk = await talkWith(
      [guard, feature({ beforeToolCall: async () => undefined }, 'other')],
      [{ calls: [call('a'), call('b'), call('c')] }, done],
      {
        services: {
          decide: ({ name }, { label }) => {
            decided.push(`${name}: ${label}`);
            return Promise.resolve({ kind: 'approve' });
          },
        },
      },
    );
    await talk.turn('go');
    expect(seen).toEqual([
      ['call a', 0, 0],
      ['call b', 1, 0],
      ['call c', 1, 0],
    ]);
    expect(decided).toEqual(['Echo: Echo a', 'Echo: Echo c']);
    expect(talk.all('tool.result').map(({ payload }) => [payload.output, payload.isError])).toEqual([
      ['not b', true],
      ['a', undefined],
      ['c', undefined],
    ]);
    await talk.close();
  });

  it('does not run when a guard throws, and its result is an error when a later hook throws', async () => {
    const failing = feature({
      beforeToolCall(_agent, { call: { id } }) {
        if (id === 'call a') throw new Error('guard is broken');
        return undefined;
      },
      afterToolCall(_agent, { id }) {
        if (id === 'call b') throw new Error('hook is broken');
        return {};
      },
    });
    const talk = await talkWith([failing], [{ calls: [call('a'), call('b'), call('c')] }, done]);
    await talk.turn('go');
    expect(talk.all('tool.result').map(({ payload }) => [payload.output, payload.isError])).toEqual([
      [expect.stringContaining('guard is broken'), true],
      [expect.stringContaining('hook is broken'), true],
      ['c', undefined],
    ]);
    expect(talk.all('turn.ended')[0]?.payload).toMatchObject({ reason: 'completed' });
    await talk.close();
  });

  it('is decided with the steps that features add, in the order of the list and before the step that they name', async () => {
    const asked: string[] = [];
    const step = (name: string, before: AddedStep['before']): Feature => {
      const decide: AddedStep['decide'] = ({ toolName, agentId }) => {
        asked.push(`${name}: ${toolName} of ${agentId}`);
        return name === 'late' ? { kind: 'deny', reason: 'late says no' } : undefined;
      };
      return feature({ permissionSteps: [before ? { before, decide } : { decide }] }, name);
    };
    const policy = openPolicy();
    const talk = await talkWith(
      [step('late', 'tool class'), step('a', undefined), step('b', undefined)],
      [{ calls: [call('x')] }, done],
      {
        services: {
          decide: (tool, { subject, accesses }, { agentId, mode, steps }) =>
            policy.decide(
              { toolName: tool.name, agentId, permission: tool.permission, effects: tool.effects, subject, accesses },
              { mode, rules: [], remembered: [], steps, places: talk.main.context.environment() },
            ),
        },
      },
    );
    await talk.turn('go');
    expect(asked).toEqual(['a: Echo of main', 'b: Echo of main', 'late: Echo of main']);
    expect(talk.all('tool.result')[0]?.payload).toMatchObject({
      isError: true,
      output: expect.stringContaining('late says no'),
    });
    await talk.close();
  });
});

describe('a call with a review', () => {
  const asking = (records?: () => Promise<Draft[]>): Tool =>
    defineTool({
      name: 'Ask',
      permission: 'free',
      effects: 'none',
      description: '',
      parameters: z.object({}),
      prepare: () => ({
        accesses: [],
        label: 'Asking',
        subject: { match: 'literal' },
        review: records ? { records } : {},
        run: ({ answer }) =>
          Promise.resolve({ output: answer ? `${answer.decision} ${answer.feedback}` : 'not asked' }),
      }),
    });
  const ask = { calls: [{ id: 'call', name: 'Ask', args: {} }] };

  it('runs with any answer; its records precede the request', async () => {
    const tool = asking(async () => [mark({ id: 'main' }, 'review')]);
    const talk = await talkWith([], [ask, done], {
      tools: [tool],
      services: { decide: async () => ({ kind: 'ask' }) },
    });
    talk.submit('go');
    const { payload } = await talk.nth('event.approval.requested');
    await talk.session.approvals.resolve(String(payload.approval_id), { decision: 'rejected', feedback: 'no' });
    await talk.idle();
    expect(between(talk.told(), 'review', 'tool.result')).toEqual([
      'review',
      'permission.approval.requested',
      'event.session.work_changed',
      'event.approval.requested',
      'event.session.work_changed',
      'event.approval.resolved',
      'permission.approval.resolved',
      'tool.call.started',
      'tool.result',
    ]);
    expect(talk.all('tool.result')[0]?.payload).toMatchObject({ output: 'rejected no' });
    expect(talk.all('tool.result')[0]?.payload).not.toHaveProperty('isError');
    await talk.close();
  });

  it('runs without an answer, after its records, if no approval is requested; a denied one has no records', async () => {
    const tool = asking(async () => [mark({ id: 'main' }, 'review')]);
    const kinds = ['approve', 'deny'] as const;
    let decided = 0;
    const decide = async () => ({ kind: kinds[decided++] ?? 'deny' });
    const talk = await talkWith([], [ask, done, ask, done], { tools: [tool], services: { decide } });
    await talk.turn('go');
    await talk.turn('go');
    expect(talk.told().filter((type) => type === 'review' || type === 'tool.call.started')).toEqual([
      'review',
      'tool.call.started',
      'tool.call.started',
    ]);
    expect(talk.all('tool.result').map(({ payload }) => payload.output)).toEqual([
      'not asked',
      expect.stringContaining('denied'),
    ]);
    await talk.close();
  });
});

describe('tools', () => {
  it('are requested for each step; the list sent to models follows, and is recorded a single time', async () => {
    let on = false;
    const extra: Tool = { ...echo, name: 'Extra' };
    const more = feature({
      tools: () => (on ? [extra] : []),
      afterToolCall: () => {
        on = !on;
        return {};
      },
    });
    const talk = await talkWith([more], [{ calls: [call('a')] }, { calls: [call('b')] }, { calls: [call('c')] }, done]);
    await talk.turn('go');
    expect(talk.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ['Echo'],
      ['Echo', 'Extra'],
      ['Echo'],
      ['Echo', 'Extra'],
    ]);
    const lists = (await talk.lines()).flat().filter((type) => type === 'agent.tools');
    expect(lists).toHaveLength(2);
    await talk.close();
  });

  it('are those of the requesting agent, and subject to the tool policy', async () => {
    const mine: Tool = { ...echo, name: 'Mine' };
    const more = feature({ tools: ({ id }) => (id === 'main' ? [mine] : []) });
    const talk = await talkWith([more], [], {
      services: {
        toolPolicy: (names) => ({ active: new Set(names.filter((name) => name !== 'Echo')), ineffective: [] }),
      },
    });
    expect(talk.main.tools().map(({ tool, active }) => [tool.name, active])).toEqual([
      ['Echo', false],
      ['Mine', true],
    ]);
    expect(talk.main.context.environment().activeTools).toEqual(new Set(['Mine']));
    await talk.close();
  });
});

describe('the lifetime of an agent', () => {
  it('has records of features after its creation and before its end', async () => {
    const life = feature({
      onAgentCreated: (agent) => [mark(agent, 'born')],
      onAgentClose: (agent) => [mark(agent, 'closing')],
    });
    const talk = await talkWith([life]);
    await talk.turn('go');
    expect(talk.told().slice(0, 2)).toEqual(['agent.created', 'born']);
    await talk.log.close('exit', await talk.session.end('exit'));
    expect(talk.told().slice(-3)).toEqual(['closing', 'event.session.work_changed', 'agent.disposed']);
  });

  it('starts with facts of features, and has those that a result changes after it', async () => {
    const tool: Tool = defineTool({
      name: 'Swarm',
      permission: 'free',
      effects: 'none',
      description: '',
      parameters: z.object({}),
      prepare: () => ({
        accesses: [],
        label: 'Swarming',
        subject: { match: 'literal' },
        run: () => Promise.resolve({ output: 'on', facts: { swarmMode: true } }),
      }),
    });
    const talk = await talkWith(
      [feature({ statusFields: () => ({ planMode: true }) })],
      [{ calls: [{ id: 'call', name: 'Swarm', args: {} }] }, done],
      { tools: [tool] },
    );
    await talk.turn('go');
    const facts = (name: string) =>
      talk.frames.findIndex(({ type, payload }) => type === 'agent.status.updated' && payload[name] === true);
    const durable = (name: string) => talk.frames.findIndex(({ type }) => type === name);
    expect(facts('planMode')).toBe(durable('agent.created') + 1);
    expect(facts('swarmMode')).toBeGreaterThan(durable('tool.result'));
    expect(facts('swarmMode')).toBeLessThan(durable('turn.step.completed'));
    await talk.close();
  });

  it('features keep the session loaded, receive the reason of its unloading, and are awaited', async () => {
    let holds = true;
    const order: string[] = [];
    const keeper = feature({
      isBusy: () => holds,
      async onUnload(reason) {
        await new Promise((resolve) => setImmediate(resolve));
        order.push(reason);
      },
    });
    const talk = await talkWith([feature({}, 'other'), keeper]);
    expect(talk.session.holds()).toBe(true);
    holds = false;
    expect(talk.session.holds()).toBe(false);
    await talk.session.end('archive');
    expect(order).toEqual(['archive']);
    await talk.close();
  });
});

describe('a request', () => {
  const request = (text: string, more: { before?: Draft[]; after?: Draft[] } = {}) => ({
    origin: { kind: 'system_trigger' as const, name: 'test' },
    messages: [says(text)],
    ...more,
  });

  it('opens a separate turn on an idle agent, with its records around the messages', async () => {
    const talk = await talkWith([]);
    talk.main.context.request(
      request('wake up', { before: [mark(talk.main, 'before')], after: [mark(talk.main, 'after')] }),
    );
    await talk.idle();
    expect(between(talk.told(), 'turn.started', 'turn.ended')).toEqual([
      'turn.started',
      'event.session.work_changed',
      'before',
      'context.spliced',
      'after',
      'context.spliced',
      'turn.step.started',
      'turn.step.completed',
      'turn.ended',
    ]);
    expect(talk.told().at(-1)).toBe('event.session.work_changed');
    expect(talk.all('turn.started')[0]?.payload).toMatchObject({ turnId: 0, origin: { kind: 'system_trigger' } });
    expect(talk.all('turn.started')[0]?.payload).not.toHaveProperty('promptId');
    await talk.close();
  });

  it('enters a running turn at its next step, which is added if there would be none', async () => {
    const first = held('Not yet.');
    const talk = await talkWith([], [first.script, done]);
    talk.submit('go');
    await talk.nth('turn.step.started');
    talk.main.context.request(request('by the way'));
    first.open();
    await talk.idle();
    expect(between(talk.told(), 'turn.step.completed', 'turn.step.started')).toEqual([
      'turn.step.completed',
      'context.spliced',
      'turn.step.started',
    ]);
    expect(lastMessages(talk.requests).slice(-2)).toEqual(['Not yet.', expect.stringContaining('by the way')]);
    expect(talk.all('turn.started')).toHaveLength(1);
    expect(talk.all('prompt.completed')).toHaveLength(1);
    await talk.close();
  });

  it('that no step has taken is part of the last journal line of an aborted turn', async () => {
    const talk = await talkWith([], [hanging]);
    talk.submit('go');
    await talk.nth('turn.step.started');
    talk.main.context.request(request('by the way'));
    talk.main.cancelTurn();
    await talk.idle();
    const [input, interruption] = talk.all('context.spliced').slice(-2);
    expect(input?.payload.messages).toMatchObject([{ origin: { variant: 'test' } }]);
    expect(interruption?.payload.messages).toMatchObject([{ origin: { variant: 'interruption' } }]);
    expect((await talk.lines()).at(-1)).toEqual([
      'turn.step.interrupted',
      'turn.ended',
      'context.spliced',
      'context.spliced',
      'event.session.work_changed',
      'prompt.aborted',
    ]);
    await talk.close();
  });

  it('that arrives when the turn has just ended opens the next one', async () => {
    let asked = 0;
    const again = feature({
      onTurnEnd(agent) {
        if (asked++ === 0) agent.request(request('once more'));
        return {};
      },
    });
    const talk = await talkWith([again], [done, done]);
    await talk.turn('go');
    expect(talk.all('turn.started').map(({ payload }) => payload.origin)).toMatchObject([
      { kind: 'user' },
      { kind: 'system_trigger' },
    ]);
    expect(lastMessages(talk.requests).at(-1)).toContain('once more');
    await talk.close();
  });

  it('that arrives while a prompt waits enters the turn of that prompt', async () => {
    const first = held('One.');
    const again = feature({
      onTurnEnd(agent, turnId) {
        if (turnId === 0) agent.request(request('once more'));
        return {};
      },
    });
    const talk = await talkWith([again], [first.script, done]);
    talk.submit('one');
    await talk.nth('turn.step.started');
    talk.submit('two');
    first.open();
    await talk.idle();
    expect(talk.all('turn.started')).toHaveLength(2);
    expect(lastMessages(talk.requests).slice(-2)).toEqual(['two', expect.stringContaining('once more')]);
    await talk.close();
  });

  it('is refused while the session is being closed', async () => {
    const talk = await talkWith([]);
    await talk.session.end('idle');
    const closing = expect.objectContaining({ code: 40901 });
    expect(() => talk.main.context.request(request('too late'))).toThrow(closing);
    const prompt = {
      id: 'msg_late',
      origin: { kind: 'user' as const },
      input: { content: [], eventContent: [], parts: [], text: '', attachments: [] },
      createdAt: 0,
    };
    expect(() => talk.main.submit(prompt, [])).toThrow(closing);
    await talk.close();
  });

  it('is refused while exclusive work settles because the session is being closed', async () => {
    const talk = await talkWith([]);
    let settle = () => {};
    const work = talk.main.exclusively(() => new Promise<void>((resolve) => (settle = resolve)));
    expect(work).toBeDefined();
    const end = talk.session.end('idle');
    expect(() => talk.main.context.request(request('too late'))).toThrow(expect.objectContaining({ code: 40901 }));
    settle();
    await end;
    await talk.close();
  });

  it('that entered a running turn with records keeps them', async () => {
    const first = held('Not yet.');
    const talk = await talkWith([], [first.script, done]);
    talk.submit('go');
    await talk.nth('turn.step.started');
    talk.main.context.request(
      request('by the way', { before: [mark(talk.main, 'before')], after: [mark(talk.main, 'after')] }),
    );
    first.open();
    await talk.idle();
    expect(between(talk.told(), 'turn.step.completed', 'turn.step.started')).toEqual([
      'turn.step.completed',
      'before',
      'context.spliced',
      'after',
      'turn.step.started',
    ]);
    await talk.close();
  });
});

describe('a prompt that a feature processes first', () => {
  /** A feature whose answer arrives when `say` is called. */
  function working() {
    let say: (answer: PromptStart | Error) => void = () => {};
    const signals: AbortSignal[] = [];
    const live: LiveFeature = {
      beforePrompt: () => (signal) => {
        signals.push(signal);
        return new Promise((resolve, reject) => {
          say = (answer) => (answer instanceof Error ? reject(answer) : resolve(answer));
          signal.addEventListener('abort', () => resolve({}));
        });
      },
    };
    return { part: feature(live), say: (answer: PromptStart | Error) => say(answer), signals };
  }
  const opening = (text: string) => ({ origin: { kind: 'retry' as const }, messages: [says(text)] });

  it('makes the session busy, and starts after its records in one journal line', async () => {
    const { part, say } = working();
    const talk = await talkWith([part]);
    talk.submit('go');
    expect(talk.session.activity()).toMatchObject({ busy: true, main_turn_active: false });
    expect(talk.session.holds()).toBe(true);
    say({ records: [mark({ id: 'main' }, 'looked at')] });
    await talk.nth('prompt.completed');
    await talk.idle();
    expect(between(talk.told(), 'prompt.submitted', 'context.spliced')).toEqual([
      'prompt.submitted',
      'event.session.work_changed',
      'looked at',
      'turn.started',
      'event.session.work_changed',
      'context.spliced',
    ]);
    expect(await talk.lines()).toContainEqual([
      'warning',
      'turn.started',
      'event.session.work_changed',
      'context.spliced',
    ]);
    await talk.close();
  });

  it('passes requests that arrive meanwhile to its turn', async () => {
    const { part, say } = working();
    const talk = await talkWith([part]);
    talk.submit('go');
    talk.main.context.request(opening('late'));
    say({});
    await talk.nth('prompt.completed');
    await talk.idle();
    expect(talk.all('turn.started')).toHaveLength(1);
    expect(lastMessages(talk.requests)).toContainEqual(expect.stringContaining('late'));
    await talk.close();
  });

  it('leaves them to a separate turn when it is refused, and runs `wake` callbacks too', async () => {
    const { part, say } = working();
    const talk = await talkWith([part], [done, done]);
    talk.submit('go');
    talk.main.context.request(opening('late'));
    say({ refused: true });
    await talk.nth('turn.ended');
    await talk.idle();
    expect(talk.told()).toContain('prompt.completed');
    expect(lastMessages(talk.requests)).toContainEqual(expect.stringContaining('late'));
    talk.submit('again');
    talk.main.context.wake(() => opening('woken'));
    say({ refused: true });
    await talk.nth('turn.ended', 2);
    await talk.idle();
    expect(lastMessages(talk.requests).at(-1)).toContain('woken');
    await talk.close();
  });

  it('fails with the error of the feature, and the next one starts', async () => {
    const { part, say } = working();
    const talk = await talkWith([part]);
    const id = talk.submit('go');
    const starting = talk.main.starting(id);
    talk.submit('next');
    say(new Error('broken'));
    await expect(starting).rejects.toThrow('broken');
    expect(talk.all('prompt.completed')[0]?.payload).toMatchObject({ promptId: id, reason: 'failed' });
    say({});
    await talk.nth('prompt.completed', 2);
    await talk.idle();
    expect(talk.all('turn.started')).toHaveLength(1);
    await talk.close();
  });

  it('is aborted with the session, and no operation is left running', async () => {
    const { part, signals } = working();
    const talk = await talkWith([part], []);
    const id = talk.submit('go');
    const starting = talk.main.starting(id);
    const last = await talk.session.end('exit');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(await starting).toBe('running');
    expect(talk.told().slice(-2)).toEqual(['event.session.work_changed', 'prompt.aborted']);
    expect(last.map(({ type }) => type)).toEqual(['agent.disposed']);
    await talk.close();
  });
});

describe('the fold of a feature', () => {
  /** Counts the warnings of each agent; an undo restores the count. */
  const counts = defineFeatureProjection<Map<string, number>, number>({
    name: 'count',
    initial: () => new Map(),
    apply(state, record) {
      if (record.type === 'warning') state.set(record.agent, (state.get(record.agent) ?? 0) + 1);
    },
    undo: {
      checkpoint: (state, agent) => state.get(agent) ?? 0,
      restore: (state, agent, saved) => void state.set(agent, saved),
    },
  });
  const counting: Feature = {
    name: 'count',
    projection: counts,
    snapshot: () => ({ pending_questions: [] }),
    status: (state, { config }) => ({
      swarm_mode: counts.of(state.features).get('main') === 2,
      plan_mode: config.effective().defaultPlanMode,
    }),
    open: () => ({ onStepStart: (agent) => ({ before: [mark(agent, 'counted')] }) }),
  };

  it('is read by status and tools, and is equal after a load', async () => {
    const talk = await talkWith([counting], [done, done]);
    await talk.turn('one');
    await talk.turn('two');
    expect(talk.reader.status()).toMatchObject({ swarm_mode: true, plan_mode: false });
    await talk.close();
    const again = await talkWith([counting]);
    expect(counts.of(again.log.state.features)).toEqual(new Map([['main', 2]]));
    await again.close();
  });

  it('is restored to its state at the undone prompt, also after a load; other agents keep theirs', async () => {
    const talk = await talkWith([counting], [done, done]);
    await talk.turn('one');
    const { length } = talk.main.context.state().entries;
    await talk.turn('two');
    talk.log.append([mark({ id: 'agent-1' }, 'elsewhere')]);
    const all = talk.main.context.state().entries.length;
    talk.log.append([
      event(
        'main',
        'context.spliced',
        { start: length, deleteCount: all - length, messages: [], tokens: 1 },
        { cause: 'undo' },
      ),
      event('main', 'context.undone', { turns: 1 }),
    ]);
    const expected = new Map([
      ['main', 1],
      ['agent-1', 1],
    ]);
    expect(counts.of(talk.log.state.features)).toEqual(expected);
    await talk.close();
    const again = await talkWith([counting]);
    expect(counts.of(again.log.state.features)).toEqual(expected);
    await again.close();
  });
});

it('a feature finds its instance in the session, and no other', async () => {
  const own: Feature<LiveFeature & { word: string }> = { name: 'own', open: () => ({ word: 'mine' }) };
  const talk = await talkWith([own]);
  expect(talk.session.context.feature(own).word).toBe('mine');
  expect(() => talk.session.context.feature(feature({}, 'absent'))).toThrow('the feature absent is not in the list');
  await talk.close();
});
