/** Subagents below HTTP: their permissions, their owners, the outcomes of their runs. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { builtinProfiles } from '#server/agent/profiles/built-in.ts';
import type { Flags } from '#server/config/flags.ts';
import type { StoredConfig } from '#server/config/stored.ts';
import { readContext } from '#server/journal/projections/context.ts';
import { internal } from '#server/journal/records.ts';
import { undoTurns } from '#server/agent/undo/undo.ts';
import { activeTools } from '#server/permissions/active-tools.ts';
import { defineTool, type Tool } from '#server/tools/tool.ts';
import type { ModelRequest } from '#server/models/types.ts';
import {
  NO_FLAGS,
  openTalk,
  scriptedModel,
  textOf,
  type AgentSessionOptions,
  type ModelAnswer,
} from '#support/agent-session.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';
import type { Profile } from '#server/agent/contract/profile.ts';

const folder = useTemporaryFolder();

const LONG = 'All of it was looked at, and this is what there is to say. '.repeat(4).trim();
const done: ModelAnswer = { text: 'Done.' };
const found: ModelAnswer = { text: LONG };

const tool = (name: string, writes = false): Tool =>
  defineTool({
    name,
    permission: 'free',
    effects: writes ? 'workspace' : 'none',
    description: '',
    parameters: z.object({ path: z.string().default('/x') }),
    prepare: ({ path }) => ({
      accesses: writes ? [{ kind: 'file', path, mode: 'write' }] : [],
      label: name,
      subject: { match: 'literal' },
      run: () => Promise.resolve({ output: `${name} ran` }),
    }),
  });
const tools = [tool('Bash'), tool('Write', true)];

/** Scripted answers by the requesting agent's profile. */
function models(byProfile: Record<string, ModelAnswer[]>) {
  const scripts = new Map(Object.entries(byProfile).map(([name, answers]) => [name, scriptedModel(...answers)]));
  const [any] = scripts.values();
  const requests = (name: string): ModelRequest[] => scripts.get(name)?.requests ?? [];
  const services: AgentSessionOptions['services'] = {
    ...any?.services,
    renderPrompt: (_place, _instructions, profile) => Promise.resolve(profile.name),
    toolPolicy: (names, bound, sessionDisabled) =>
      activeTools(names, {
        profile: { tools: bound?.tools ?? '*', disallowedTools: bound?.disallowed },
        sessionDisabled,
      }),
    stream(request, onPart) {
      const stream = scripts.get(request.system)?.services.stream;
      if (!stream) throw new Error(`nobody answers a ${request.system}`);
      return stream(request, onPart);
    },
  };
  return { services, requests };
}

async function talkWith(
  byProfile: Record<string, ModelAnswer[]>,
  { services = {}, ...more }: Partial<AgentSessionOptions> = {},
) {
  const { services: scripted, requests } = models(byProfile);
  const talk = await openTalk({
    dir: folder.path,
    tools,
    flags: NO_FLAGS,
    ...more,
    services: { ...scripted, ...services },
  });
  const results = (agent = 'main') =>
    talk
      .all('tool.result')
      .filter(({ payload }) => payload.agentId === agent)
      .map(({ payload }) => String(payload.output));
  return { ...talk, requests, results };
}

let calls = 0;
const agent = (args: Record<string, unknown> = {}) => ({
  id: `call_${(calls += 1)}`,
  name: 'Agent',
  args: { prompt: 'Look', description: 'look around', ...args },
});
const calling = (...made: ReturnType<typeof agent>[]): ModelAnswer => ({ calls: made });
/** An answer that arrives when it is released, or never. */
function held(text: string) {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const answer: ModelAnswer = async ({ signal }) => {
    await Promise.race([
      released,
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true })),
    ]);
    return { parts: [{ type: 'text', text }], calls: [], finishReason: 'completed' };
  };
  return { answer, release };
}
const bound = (talk: { log: { state: { context: Parameters<typeof readContext>[0] } } }, id: string) =>
  readContext(talk.log.state.context, id);

describe('a subagent', () => {
  it('is bound to its profile, the model and the mode of its caller, and cannot start agents', async () => {
    const talk = await talkWith({ agent: [calling(agent()), done], coder: [found] });
    await talk.main.context.config.change({ permission: 'yolo', thinking: 'high' });
    await talk.turn('go');
    const child = bound(talk, 'agent-1');
    expect(child.bound).toMatchObject({ profile: 'coder', disallowed: ['Agent', 'AgentSwarm', 'AskUserQuestion'] });
    expect(child.config).toMatchObject({ model: 'fake', permission: 'yolo', runtimeId: 'local' });
    expect(talk.log.state.status.agents.get('agent-1')?.birth).toEqual({
      kind: 'sub',
      parentAgentId: 'main',
      purpose: 'task',
    });
    const offered = talk.requests('coder').flatMap((request) => request.tools.map(({ name }) => name));
    expect(offered).toContain('Write');
    for (const name of ['Agent', 'AskUserQuestion', 'Read']) expect(offered).not.toContain(name);
  });

  it('of a profile with every tool has none that starts agents or asks, and must be named by its caller', async () => {
    const all: Profile = { name: 'all', description: 'Everything.', tools: '*', discovered: true };
    const talk = await talkWith(
      {
        agent: [calling(agent({ subagent_type: 'all' })), done, calling(agent({ subagent_type: 'all' })), done],
        all: [calling(agent()), found],
      },
      { services: { profiles: () => new Map([...builtinProfiles, ['all', all]]) } },
    );
    await talk.turn('go');
    expect(talk.results()).toEqual([expect.stringContaining('Allowed types: coder, explore, plan.')]);
    talk.log.append([internal('main', 'agent.bound', { profile: 'agent', tools: '*', subagents: ['all'] })]);
    await talk.turn('go');
    expect(talk.results().at(-1)).toContain('status: completed');
    expect(talk.results('agent-1')).toEqual([expect.stringContaining('"Agent" is disabled')]);
    const offered = talk.requests('all')[0]?.tools.map(({ name }) => name);
    expect(offered).not.toContain('AskUserQuestion');
    expect(offered).toEqual(expect.arrayContaining(['Bash', 'Write', 'TodoList']));
  });

  it('of a profile that was found in files is there for the main agent', async () => {
    const own: Profile = { name: 'own', description: 'Mine.', tools: ['Bash'], discovered: true };
    const talk = await talkWith(
      { agent: [calling(agent({ subagent_type: 'own' })), done], own: [done] },
      { services: { profiles: () => new Map([...builtinProfiles, ['own', own]]) } },
    );
    await talk.turn('go');
    expect(talk.results()).toEqual([expect.stringContaining('actual_subagent_type: own')]);
    expect(talk.requests('agent')[0]?.tools.find(({ name }) => name === 'Agent')?.description).toContain(
      '- own: Mine.',
    );
  });

  it.each([['Agent'], ['AgentSwarm']])(
    'of a profile from a file whose tools include %s must be named by its caller',
    async (name) => {
      const facts = { description: 'Mine.', discovered: true as const };
      const delegating: Profile = { ...facts, name: 'delegating', tools: ['Bash', name] };
      const without: Profile = { ...facts, name: 'without', tools: '*', disallowedTools: ['Agent', 'AgentSwarm'] };
      const talk = await talkWith(
        { agent: [calling(agent({ subagent_type: 'delegating' })), done] },
        {
          services: { profiles: () => new Map([...builtinProfiles, ['delegating', delegating], ['without', without]]) },
        },
      );
      await talk.turn('go');
      expect(talk.results()).toEqual([expect.stringContaining('Allowed types: coder, explore, plan, without.')]);
      expect(talk.all('agent.created')).toHaveLength(1);
    },
  );

  it.each(['agent', 'nobody', '__proto__', '../coder', 'Coder'])('of the type %s there is none', async (type) => {
    const talk = await talkWith({ agent: [calling(agent({ subagent_type: type })), done] });
    await talk.turn('go');
    expect(talk.results()).toEqual([expect.stringContaining('Allowed types: coder, explore, plan')]);
    expect(talk.all('agent.created')).toHaveLength(1);
  });

  it('cannot call Agent', async () => {
    const talk = await talkWith({ agent: [calling(agent()), done], coder: [calling(agent()), found] });
    await talk.turn('go');
    expect(talk.results('agent-1')).toEqual([expect.stringContaining('"Agent" is disabled')]);
    expect(talk.all('subagent.spawned')).toHaveLength(1);
  });

  it('uses no tool that is disabled for the session', async () => {
    const bash = { id: 'bash', name: 'Bash', args: {} };
    const talk = await talkWith({ agent: [calling(agent()), done], coder: [{ calls: [bash] }, found] });
    talk.log.append([internal('main', 'session.tools', { disabled: ['Bash'] })]);
    await talk.turn('go');
    expect(talk.results('agent-1')).toEqual([expect.stringContaining('disabled in this session')]);
  });

  it('changes no file while its caller plans', async () => {
    const write = { id: 'w', name: 'Write', args: {} };
    const talk = await talkWith({ agent: [calling(agent()), done], coder: [{ calls: [write] }, found] });
    talk.log.append([internal('main', 'plan.entered', { id: 'plan-1', trigger: 'profile' })]);
    await talk.turn('go');
    expect(talk.results('agent-1')).toEqual([expect.stringContaining('is planning')]);
  });
});

describe('resumed', () => {
  const resume = (id: string, more = {}) => agent({ resume: id, ...more });

  it('it continues its conversation, under a new task', async () => {
    const talk = await talkWith({
      agent: [calling(agent({ prompt: 'First' })), done, calling(resume('agent-1', { prompt: 'Second' })), done],
      coder: [found, { text: `More. ${LONG}` }],
    });
    await talk.turn('go');
    await talk.turn('on');
    expect(talk.results().at(-1)).toContain('[summary]\nMore.');
    expect(talk.requests('coder').at(-1)?.messages.map(textOf)).toEqual(
      expect.arrayContaining(['First', LONG, 'Second']),
    );
    expect(talk.all('agent.created')).toHaveLength(2);
    const spawned = talk.all('subagent.spawned').map(({ payload }) => payload);
    expect(spawned.map(({ subagentId }) => subagentId)).toEqual(['agent-1', 'agent-1']);
    expect(new Set(spawned.map(({ taskId }) => taskId)).size).toBe(2);
  });

  it('it may be resumed repeatedly; one without an answer then returns no earlier one', async () => {
    const explores = (more = {}) => agent({ subagent_type: 'plan', ...more });
    const silent: ModelAnswer = async () => ({ parts: [], calls: [], finishReason: 'filtered' });
    const talk = await talkWith({
      agent: [calling(explores()), done, calling(resume('agent-1')), done, calling(resume('agent-1')), done],
      plan: [{ text: 'First.' }, { text: ' ' }, silent],
    });
    for (const text of ['go', 'on', 'once more']) await talk.turn(text);
    expect(talk.results()[0]).toContain('[summary]\nFirst.');
    expect(talk.results()[1]).toContain('status: completed');
    expect(talk.results()[1]).not.toContain('First.');
    expect(talk.results()[2]).toContain('[provider.filtered]');
  });

  it('after a restart it is found in the journal', async () => {
    const first = await talkWith({ agent: [calling(agent({ prompt: 'First' })), done], coder: [found] });
    await first.turn('go');
    await first.log.close('exit', await first.session.end('exit'));
    const talk = await talkWith({ agent: [calling(resume('agent-1', { prompt: 'Second' })), done], coder: [found] });
    await talk.turn('on');
    expect(talk.results()).toEqual([expect.stringContaining('status: completed')]);
    expect(talk.requests('coder')[0]?.messages.map(textOf)).toEqual(expect.arrayContaining(['First', LONG, 'Second']));
  });

  it('it has the present permissions of its caller', async () => {
    const talk = await talkWith({
      agent: [calling(agent()), done, calling(resume('agent-1')), done],
      coder: [found, found],
    });
    await talk.main.context.config.change({ permission: 'yolo' });
    await talk.turn('go');
    expect(bound(talk, 'agent-1').config.permission).toBe('yolo');
    await talk.main.context.config.change({ permission: 'manual' });
    await talk.turn('on');
    expect(bound(talk, 'agent-1').config.permission).toBe('manual');
  });

  it.each(['agent-2', 'main', 'agent-1x', '__proto__', ''])(
    '%j is refused: it is no subagent of the caller',
    async (id) => {
      const talk = await talkWith({
        agent: [calling(agent()), done, calling(resume(id)), done],
        coder: [found],
      });
      await talk.turn('go');
      await talk.turn('on');
      expect(talk.results().at(-1)).toMatch(/no subagent|Invalid arguments/);
    },
  );

  it('the subagent of another agent is refused, and its own may be resumed', async () => {
    const talk = await talkWith({
      agent: [calling(agent()), done, calling(resume('agent-2')), calling(resume('agent-1')), done],
      coder: [found, found, found],
    });
    await talk.turn('go');
    const ofAnother = { parentAgentId: 'agent-1', permission: 'manual' as const, runtimeId: undefined };
    await talk.session.agents.create({ ...ofAnother, purpose: 'task' }, ({ id }) => expect(id).toBe('agent-2'));
    talk.log.append([internal('agent-2', 'agent.bound', { profile: 'coder', tools: '*' })]);
    await talk.turn('on');
    expect(talk.results().slice(1)).toEqual([
      'There is no subagent "agent-2" of yours.',
      expect.stringContaining('status: completed'),
    ]);
  });

  it('a side conversation is refused', async () => {
    const talk = await talkWith({ agent: [calling(resume('agent-1')), done] });
    const side = {
      purpose: 'btw' as const,
      parentAgentId: 'main',
      permission: 'manual' as const,
      runtimeId: undefined,
    };
    await talk.session.agents.create(side, () => undefined);
    await talk.turn('go');
    expect(talk.results()).toEqual([expect.stringContaining('no subagent')]);
  });

  it('two times concurrently, one is refused', async () => {
    const talk = await talkWith({
      agent: [calling(agent()), done, calling(resume('agent-1'), resume('agent-1', { prompt: 'Other' })), done],
      coder: [found, found],
    });
    await talk.turn('go');
    await talk.turn('on');
    const [, ...both] = talk.results();
    expect(both.filter((output) => output.includes('status: completed'))).toHaveLength(1);
    expect(both.filter((output) => /being resumed|still running/.test(output))).toHaveLength(1);
  });

  it('with a type it is refused', async () => {
    const talk = await talkWith({ agent: [calling(agent({ resume: 'agent-1', subagent_type: 'plan' })), done] });
    await talk.turn('go');
    expect(talk.results()).toEqual([expect.stringContaining('exclude each other')]);
  });
});

describe('in the background', () => {
  it('it continues after the end of the turn, and its end is recorded with its task', async () => {
    const { answer, release } = held(LONG);
    const talk = await talkWith({ agent: [calling(agent({ run_in_background: true })), done, done], coder: [answer] });
    talk.submit('go');
    await talk.nth('prompt.completed');
    const [output] = talk.results();
    const { taskId } = (await talk.nth('subagent.spawned')).payload;
    expect(output).toMatch(
      new RegExp(
        `^task_id: ${String(taskId)}\nstatus: running\nagent_id: agent-1\nactual_subagent_type: coder\nautomatic_notification: true\n\ndescription: look around\n\nnext_step: .*\nresume_hint: .*$`,
      ),
    );
    expect(talk.reader.view()).toMatchObject({ busy: true, main_turn_active: false });
    release();
    const { payload } = await talk.nth('task.terminated');
    expect(payload.info).toMatchObject({
      kind: 'agent',
      status: 'completed',
      agentId: 'agent-1',
      subagentType: 'coder',
      model: 'fake',
    });
    const lines = await talk.lines();
    expect(lines.find((line) => line.includes('subagent.completed'))).toEqual([
      'subagent.completed',
      'task.terminated',
      'background.task.terminated',
      'event.session.work_changed',
    ]);
    expect(lines.find((line) => line.includes('subagent.spawned'))).toEqual([
      'task.started',
      'background.task.started',
      'subagent.spawned',
      'subagent.started',
    ]);
  });

  it('requires the tools that manage tasks', async () => {
    const talk = await talkWith({ agent: [calling(agent({ run_in_background: true })), done] });
    talk.log.append([internal('main', 'session.tools', { disabled: ['TaskStop'] })]);
    await talk.turn('go');
    expect(talk.results()).toEqual([expect.stringContaining('TaskStop are not active')]);
  });

  it('it can be moved there during its run, and the call is answered immediately', async () => {
    const { answer, release } = held(LONG);
    const talk = await talkWith({ agent: [calling(agent()), done, done], coder: [answer] });
    talk.submit('go');
    const { taskId } = (await talk.nth('subagent.started'), await talk.nth('subagent.spawned')).payload;
    expect(talk.session.context.tasks.detach(String(taskId))).toBe(true);
    await talk.nth('prompt.completed');
    expect(talk.results()[0]).toMatch(/^task_id: .*\n[\s\S]*\nnote: The user moved this subagent/);
    const types = talk.durable().map(({ type }) => type);
    expect(types.slice(types.indexOf('task.started')).slice(0, 3)).toEqual([
      'task.started',
      'background.task.started',
      'tool.result',
    ]);
    expect((await talk.reader.snapshot()).subagents).toEqual([]);
    release();
    await talk.nth('task.terminated');
    expect(talk.all('subagent.spawned')).toHaveLength(1);
  });

  it('ends with the session, without a notification', async () => {
    const talk = await talkWith({
      agent: [calling(agent({ run_in_background: true })), done],
      coder: [held(LONG).answer],
    });
    talk.submit('go');
    await talk.nth('prompt.completed');
    await talk.log.close('exit', await talk.session.end('exit'));
    const types = talk.durable().map(({ type, payload }) => `${type} ${String(payload.agentId)}`);
    const ends = types.filter((type) => /ended|failed|terminated|disposed|notified/.test(type));
    expect(talk.all('turn.ended').at(-1)?.payload).toMatchObject({ agentId: 'agent-1', interruptReason: 'aborted' });
    expect(ends.slice(1)).toEqual([
      'turn.ended agent-1',
      'subagent.failed main',
      'task.terminated main',
      'background.task.terminated main',
      'agent.disposed main',
      'agent.disposed agent-1',
    ]);
    expect((await talk.lines()).at(-1)?.at(-1)).toBe('session.closed');
  });
});

it('that cannot start has failed, in its record and for its caller', async () => {
  const lost: Profile = {
    name: 'lost',
    description: 'Looks in vain.',
    tools: ['Bash'],
    discovered: true,
    taskContext: () => Promise.reject(new Error('there is no map')),
  };
  const talk = await talkWith(
    { agent: [calling(agent({ subagent_type: 'lost' })), done] },
    { services: { profiles: () => new Map([...builtinProfiles, ['lost', lost]]) } },
  );
  await talk.turn('go');
  expect(talk.results()).toEqual([expect.stringMatching(/status: failed\n[^]*there is no map/)]);
  expect(talk.all('subagent.failed')[0]?.payload).toMatchObject({ subagentId: 'agent-1', error: 'there is no map' });
});

describe('stopped', () => {
  it('by a user, the result contains that and the turn continues', async () => {
    const talk = await talkWith({ agent: [calling(agent()), done], coder: [held(LONG).answer] });
    talk.submit('go');
    const { taskId } = (await talk.nth('subagent.spawned')).payload;
    await talk.nth('turn.step.started', 2);
    await talk.session.context.tasks.stop(String(taskId), {
      status: 'killed',
      by: 'user',
      reason: 'stopped by the user',
    });
    await talk.idle();
    expect(talk.results()).toEqual([expect.stringMatching(/Interrupted by user$/)]);
    expect(talk.all('task.started')).toEqual([]);
    expect(talk.all('turn.ended').map(({ payload }) => [payload.agentId, payload.reason])).toEqual([
      ['agent-1', 'cancelled'],
      ['main', 'completed'],
    ]);
  });

  it('by its time limit, it has failed and can be resumed', async () => {
    const talk = await talkWith(
      { agent: [calling(agent()), done], coder: [held(LONG).answer] },
      { config: { subagent: { timeoutMs: 30 } } },
    );
    await talk.turn('go');
    const [output] = talk.results();
    expect(output).toContain('status: failed');
    expect(output).toContain('resume_hint');
    expect(talk.all('subagent.failed')).toHaveLength(1);
    // The reason is not an interruption by a user.
    expect(talk.all('turn.ended')[0]?.payload).toMatchObject({ agentId: 'agent-1', interruptReason: 'aborted' });
  });

  it('leaves no task of its own running', async () => {
    const talk = await talkWith({ agent: [calling(agent()), done], coder: [found] });
    const { tasks } = talk.session.context;
    let ended = false;
    await tasks.run({ kind: 'process', agentId: 'agent-1', description: 'server' }, async (task) => {
      task.started(() => ({ kind: 'process', command: 'serve', pid: 1, exitCode: null }));
      await new Promise((resolve) => task.signal.addEventListener('abort', resolve, { once: true }));
      ended = true;
      return { status: 'stopped' };
    });
    await talk.turn('go');
    await talk.nth('task.terminated');
    expect(ended).toBe(true);
    expect(talk.all('task.terminated')[0]?.payload.info).toMatchObject({
      stopReason: 'subagent ended',
      terminalNotificationSuppressed: true,
    });
  });
});

describe('many concurrently', () => {
  it('each works independently', async () => {
    const COUNT = 12;
    const made = Array.from({ length: COUNT }, (_, n) => agent({ prompt: `Task ${n}` }));
    const answers = made.map((): ModelAnswer => async (request) => {
      const task = request.messages.map(textOf).find((text) => text.startsWith('Task ')) ?? '';
      return { parts: [{ type: 'text', text: `${task}: ${LONG}` }], calls: [], finishReason: 'completed' };
    });
    const talk = await talkWith({ agent: [calling(...made), done], coder: answers });
    await talk.turn('go');
    expect(talk.results()).toHaveLength(COUNT);
    const spawned = new Map(talk.all('subagent.spawned').map(({ payload }) => [payload.parentToolCallId, payload]));
    for (const frame of talk.all('tool.result')) {
      const { toolCallId, output } = frame.payload;
      const n = made.findIndex(({ id }) => id === toolCallId);
      expect(output).toContain(`agent_id: ${String(spawned.get(toolCallId)?.subagentId)}\n`);
      expect(output).toContain(`[summary]\nTask ${n}: `);
    }
    for (const { payload } of talk.all('turn.started')) {
      if (payload.agentId === 'main') continue;
      const call = [...spawned.values()].find(({ subagentId }) => subagentId === payload.agentId)?.parentToolCallId;
      expect(payload.prompt).toBe(`Task ${made.findIndex(({ id }) => id === call)}`);
    }
    expect(talk.session.agents.all().length).toBeLessThan(COUNT);
    expect((await talk.reader.snapshot()).subagents).toHaveLength(COUNT);
    talk.submit('next');
    await talk.nth('turn.started', COUNT + 2);
    expect((await talk.reader.snapshot()).subagents).toEqual([]);
  });
});

describe('a copy of the conversation', () => {
  it('is passed if the flag is on', async () => {
    const talk = await talkWith(
      { agent: [{ text: 'Plums.' }, calling(agent({ fork: true })), done], coder: [found] },
      { flags: { ...NO_FLAGS, subagent_fork: true } },
    );
    await talk.turn('Which fruit?');
    await talk.turn('go');
    expect(talk.results()).toEqual([expect.stringContaining('status: completed')]);
    const texts = talk.requests('coder')[0]?.messages.map(textOf) ?? [];
    expect(texts).toEqual(expect.arrayContaining(['Which fruit?', 'Plums.', 'Look']));
    expect(texts.some((text) => text.includes('still running'))).toBe(true);
  });

  it('is no parameter if the flag is off, and none is passed', async () => {
    const talk = await talkWith({ agent: [{ text: 'Plums.' }, calling(agent({ fork: true })), done], coder: [found] });
    await talk.turn('Which fruit?');
    await talk.turn('go');
    expect(told(talk).parameters).not.toContain('fork');
    expect(talk.requests('coder')[0]?.messages.map(textOf)).not.toContain('Plums.');
  });

  it('has new ids for calls whose id it already has, and stays when the original is undone', async () => {
    const taken = { id: 'call_taken', name: 'Bash', args: {} };
    const talk = await talkWith(
      {
        agent: [{ calls: [taken] }, done, calling(agent({ fork: true })), done],
        coder: [{ calls: [taken] }, found, { text: LONG }],
      },
      { flags: { ...NO_FLAGS, subagent_fork: true } },
    );
    await talk.turn('first');
    await talk.turn('second');
    const ids = talk.requests('coder')[1]?.messages.flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id));
    expect(ids).toContain('call_taken');
    expect(ids).toContain('call_taken__2');
    const copied = bound(talk, 'agent-1').entries.length;
    await undoTurns(talk.session.context, 2, () => '');
    expect(bound(talk, 'main').entries.some(({ message }) => message.id === 'p0')).toBe(false);
    expect(bound(talk, 'agent-1').entries).toHaveLength(copied);
  });

  it('excludes resume', async () => {
    const talk = await talkWith(
      { agent: [calling(agent({ fork: true, resume: 'agent-1' })), done] },
      { flags: { ...NO_FLAGS, subagent_fork: true } },
    );
    await talk.turn('go');
    expect(talk.results()).toEqual([expect.stringContaining('resume excludes fork and model')]);
  });
});

/** The tool's parameters and description in the last request. */
function told(talk: Awaited<ReturnType<typeof talkWith>>) {
  const { parameters, description = '' } =
    talk
      .requests('agent')
      .at(-1)
      ?.tools.find(({ name }) => name === 'Agent') ?? {};
  return { parameters: Object.keys(parameters?.properties ?? {}), description };
}

type Pool = StoredConfig['secondaryModel'];

describe('the model of a subagent', () => {
  const record = { model: 'x', baseUrl: 'http://127.0.0.1:1', protocol: 'openai' as const, maxContextSize: 1000 };
  const configOf = (secondaryModel: Pool): StoredConfig => ({
    models: { small: record, large: record },
    ...(secondaryModel ? { secondaryModel } : {}),
  });
  const pool: Pool = { defaultModel: 'small', models: { small: 'quick work', large: '' } };
  const with2 = (secondaryModel: Pool, args: Record<string, unknown>, flags: Partial<Flags> = {}) =>
    talkWith(
      { agent: [calling(agent(args)), done], coder: [found] },
      {
        config: configOf(secondaryModel),
        flags: { ...NO_FLAGS, 'secondary-model': true, ...flags },
        services: { effort: (_, wanted) => wanted ?? 'medium' },
      },
    );

  it.each([
    ['its caller', undefined, {}, 'fake', 'high'],
    ['its caller, as it asks', undefined, { model: 'primary' }, 'fake', 'high'],
    ['the pool', pool, {}, 'small', 'medium'],
    ['the pool, as its caller asks', pool, { model: 'large' }, 'large', 'medium'],
    ['its caller in spite of the pool', pool, { model: 'primary' }, 'fake', 'high'],
    ['the default that is forced', { defaultModel: 'small', force: true }, { model: 'primary' }, 'small', 'medium'],
  ])('is that of %s', async (_, of, args, model, thinkingEffort) => {
    const talk = await with2(of, args);
    await talk.main.context.config.change({ thinking: 'high' });
    await talk.turn('go');
    expect(talk.results()).toEqual([expect.stringContaining('status: completed')]);
    expect(bound(talk, 'agent-1').config).toMatchObject({ model, thinkingEffort });
    expect(talk.all('subagent.spawned')[0]?.payload).toMatchObject({ model, thinkingEffort });
  });

  it("is its caller's if it starts with its conversation", async () => {
    const talk = await with2(pool, { fork: true, model: 'large' }, { subagent_fork: true });
    await talk.main.context.config.change({ thinking: 'high' });
    await talk.turn('go');
    expect(bound(talk, 'agent-1').config).toMatchObject({ model: 'fake', thinkingEffort: 'high' });
    expect(told(talk).parameters).toEqual(expect.arrayContaining(['fork', 'model']));
  });

  it.each([
    ['that no pool has', undefined, { model: 'small' }, 'There are: primary.'],
    ['that this pool has not', pool, { model: 'gone' }, 'There are: small, large, primary.'],
    ['while the pool is unusable', { models: { small: '' } }, {}, 'default_model is missing'],
    ['for one that goes on', pool, { model: 'small', resume: 'agent-1' }, 'resume excludes fork and model'],
  ])('cannot be one %s', async (_, of, args, why) => {
    const talk = await with2(of, args);
    await talk.turn('go');
    expect(talk.results()).toEqual([expect.stringContaining(why)]);
    expect(talk.all('subagent.spawned')).toEqual([]);
  });

  it('is offered while there is a choice, and no longer', async () => {
    const config = configOf(pool);
    const flags = { ...NO_FLAGS, 'secondary-model': true };
    const talk = await talkWith({ agent: [done, done, done] }, { config, flags });
    await talk.turn('go');
    expect(told(talk).parameters).toContain('model');
    expect(told(talk).description).toContain('- small: quick work\n- large\n- primary');
    config.secondaryModel = { defaultModel: 'small', force: true };
    await talk.turn('go');
    expect(told(talk).parameters).not.toContain('model');
    expect(told(talk).description).not.toContain('- small');
    config.secondaryModel = pool;
    await talk.turn('go');
    expect(talk.requests('agent')[2]?.tools).toBe(talk.requests('agent')[0]?.tools);
  });
});
