/**
 * Tools that the model loads: announcements, declarations in requests, and the state after an undo, a compaction or a
 * copy.
 */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { copiedHistory } from '#server/agent/copied-history.ts';
import type { Feature } from '#server/agent/contract/feature.ts';
import { compaction } from '#server/features/compaction/compaction.ts';
import { features } from '#server/features/features.ts';
import { undoTurns } from '#server/agent/undo/undo.ts';
import type { ModelRequest, ResolvedModel } from '#server/models/types.ts';
import { activeTools } from '#server/permissions/active-tools.ts';
import { defineTool, type Tool } from '#server/tools/tool.ts';
import {
  NO_FLAGS,
  openTalk,
  scriptedModel,
  textOf,
  type AgentSessionOptions,
  type ModelAnswer,
} from '#support/agent-session.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();

const ready: ResolvedModel = {
  alias: 'fake',
  wireName: 'fake',
  providerId: 'fake',
  providerType: 'native',
  protocol: 'native',
  headers: {},
  capabilities: new Set(['dynamically_loaded_tools', 'tool_use']),
  maxContextTokens: 100_000,
  maxInputTokens: 100_000,
  supportEfforts: [],
  displayName: 'Fake',
};

const plain = (name: string): Tool =>
  defineTool({
    name,
    permission: 'free',
    effects: 'none',
    description: `The tool ${name}.`,
    parameters: z.object({ text: z.string() }),
    prepare: ({ text }) => ({
      accesses: [],
      subject: { match: 'literal' },
      run: () => Promise.resolve({ output: `${name}: ${text}` }),
    }),
  });
const deferred = (name: string): Tool => ({ ...plain(name), deferred: true });

let calls = 0;
const call = (name: string, args: unknown) => ({ id: `call_${(calls += 1)}`, name, args });
const select = (...names: string[]): ModelAnswer => ({ calls: [call('select_tools', { names })] });
const use = (name: string, args: unknown = { text: 'hi' }): ModelAnswer => ({ calls: [call(name, args)] });
const done: ModelAnswer = { text: 'Done.' };

interface Facts {
  model?: ResolvedModel;
  flag?: boolean;
  tools?: Tool[];
  services?: AgentSessionOptions['services'];
}

/** Opens a session; a test may change `facts` later. */
async function talkWith(answers: ModelAnswer[], facts: Facts = {}) {
  const { services, requests } = scriptedModel(...answers);
  const tools = [deferred('mcp__a__one'), deferred('mcp__a__two')];
  const source: Feature = { name: 'source', open: () => ({ tools: () => facts.tools ?? tools }) };
  const talk = await openTalk({
    dir: folder.path,
    services: {
      ...services,
      resolveModel: () => facts.model ?? ready,
      ...facts.services,
    },
    flags: {
      ...NO_FLAGS,
      get 'tool-select'() {
        return facts.flag ?? true;
      },
    },
    tools: [plain('Read')],
    features: [...features, source],
  });
  const results = () => talk.all('tool.result').map(({ payload }) => String(payload.output));
  return { ...talk, requests, results };
}

const names = ({ tools }: ModelRequest) => tools.map(({ name }) => name);
const listed = (request: ModelRequest | undefined) =>
  request && names(request).filter((name) => /mcp|select/.test(name));
/** The announcements of tools in a request's conversation, and the names of declared ones. */
const told = (request: ModelRequest | undefined) =>
  request?.messages.flatMap((message) => [
    ...(textOf(message).match(/<tools_\w+>[^<]+/g) ?? []).map((block) => block.trim().split('\n').join(' ')),
    ...(message.tools ? [`${message.role} ${message.tools.map(({ name }) => name).join(' ')}`] : []),
  ]);

describe('a model that takes schemas in its conversation', () => {
  it('receives names, loads tools and calls them in the next response', async () => {
    const talk = await talkWith([
      use('mcp__a__one'),
      { calls: [call('select_tools', { names: ['mcp__a__one', 'gone'] }), call('mcp__a__one', { text: 'too early' })] },
      use('mcp__a__one'),
      use('mcp__a__two', 'no object'),
      done,
    ]);
    await talk.turn('go');
    for (const request of talk.requests) expect(listed(request)).toEqual(['select_tools']);
    expect(told(talk.requests[1])).toEqual(['<tools_added> mcp__a__one mcp__a__two']);
    expect(told(talk.requests[2])).toEqual(['<tools_added> mcp__a__one mcp__a__two', 'system mcp__a__one']);
    const declared = talk.requests[2]?.messages.at(-1);
    expect(declared).toMatchObject({ content: [], tools: [{ description: 'The tool mcp__a__one.' }] });
    expect(declared?.tools?.[0]?.parameters).toMatchObject({ required: ['text'] });
    const unloaded = expect.stringContaining('is not loaded. Call select_tools');
    expect(talk.results()).toEqual([
      unloaded,
      // Results of refused calls are first.
      unloaded,
      'Loaded, and there with your next response: mcp__a__one. There is nothing to load of the name gone.',
      'mcp__a__one: hi',
      unloaded,
    ]);
    const spliced = talk.all('context.spliced').map(({ payload }) => JSON.stringify(payload));
    expect(spliced.filter((payload) => payload.includes('dynamic_tool_schema'))).toHaveLength(1);
  });

  it('receives added and removed names at the beginning of a turn, and no announcement without a change', async () => {
    const facts: Facts = {};
    const talk = await talkWith([done, done, done], facts);
    await talk.turn('first');
    await talk.turn('second');
    expect(told(talk.requests[1])).toHaveLength(1);
    facts.tools = [deferred('mcp__a__two'), deferred('mcp__b__new')];
    await talk.turn('third');
    expect(told(talk.requests[2])?.slice(1)).toEqual(['<tools_added> mcp__b__new', '<tools_removed> mcp__a__one']);
  });

  it('receives a schema once, and again after a change', async () => {
    const facts: Facts = {};
    const talk = await talkWith(
      [select('mcp__a__one'), select('mcp__a__one'), done, select('mcp__a__one'), done],
      facts,
    );
    await talk.turn('go');
    expect(told(talk.requests[2])?.slice(1)).toEqual(['system mcp__a__one']);
    facts.tools = [{ ...deferred('mcp__a__one'), description: 'Another.' }];
    await talk.turn('go');
    const declared = talk.requests[4]?.messages.flatMap(({ tools = [] }) =>
      tools.map(({ description }) => description),
    );
    expect(declared).toEqual(['The tool mcp__a__one.', 'Another.']);
  });

  it.each([
    ['no names', { names: [] }, 'Invalid arguments'],
    ['another member', { names: ['mcp__a__one'], more: 1 }, 'Invalid arguments'],
    ['only what there is not', { names: ['Read', 'gone'] }, 'nothing to load of the name Read, gone'],
  ])('loads nothing with %s', async (_, args, problem) => {
    const talk = await talkWith([use('select_tools', args), done]);
    await talk.turn('go');
    expect(talk.results()).toEqual([expect.stringContaining(problem)]);
    expect(told(talk.requests[1])).toHaveLength(1);
  });

  it('loads at most 128 in one call', async () => {
    const many = Array.from({ length: 129 }, (_, n) => deferred(`mcp__a__t${n}`));
    const talk = await talkWith([select(...many.map(({ name }) => name)), done], { tools: many });
    await talk.turn('go');
    expect(talk.results()).toEqual(['At most 128 tools can be loaded at once.']);
  });

  it('retains the loaded tools when the session is loaded again', async () => {
    const first = await talkWith([select('mcp__a__one'), done]);
    await first.turn('go');
    await first.close();
    const talk = await talkWith([use('mcp__a__one'), done]);
    await talk.turn('go');
    expect(talk.results()).toEqual(['mcp__a__one: hi']);
    expect(told(talk.requests[0])).toEqual(['<tools_added> mcp__a__one mcp__a__two', 'system mcp__a__one']);
  });

  it('receives the schemas that it requested right before an abort with its next turn', async () => {
    const stuck: ModelAnswer = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
    const talk = await talkWith([select('mcp__a__one'), stuck, done]);
    talk.submit('go');
    await talk.nth('turn.step.started', 2);
    talk.main.cancelTurn();
    await talk.idle();
    await talk.turn('again');
    expect(told(talk.requests[2])).toEqual(['<tools_added> mcp__a__one mcp__a__two', 'system mcp__a__one']);
  });

  it('has no tool loaded after an undo, and receives the names again', async () => {
    const talk = await talkWith([select('mcp__a__one'), done, use('mcp__a__one'), done]);
    await talk.turn('go');
    await undoTurns(talk.session.context, 1, () => '');
    await talk.turn('again');
    expect(told(talk.requests[2])).toEqual(['<tools_added> mcp__a__one mcp__a__two']);
    expect(talk.results().at(-1)).toContain('is not loaded');
  });

  it('has no tool loaded after a compaction, whose request contains none', async () => {
    const talk = await talkWith([select('mcp__a__one'), done, { text: '## Task\nGo.' }, use('mcp__a__one'), done]);
    await talk.turn('go');
    talk.session.context.feature(compaction).start(undefined);
    await talk.nth('compaction.completed');
    await talk.idle();
    expect(told(talk.requests[2])).toEqual([]);
    expect(listed(talk.requests[2])).toEqual(['select_tools']);
    await talk.turn('again');
    expect(told(talk.requests[3])).toEqual(['<tools_added> mcp__a__one mcp__a__two']);
    expect(talk.results().at(-1)).toContain('is not loaded');
  });

  it('passes the loaded tools on with a copy of its conversation', async () => {
    const talk = await talkWith([select('mcp__a__one'), done, use('mcp__a__one'), done]);
    await talk.turn('go');
    const { agents, log, services } = talk.session.context;
    const profile = services.profiles(talk.session.context).get('coder');
    const birth = {
      purpose: 'task' as const,
      parentAgentId: 'main',
      permission: 'manual' as const,
      runtimeId: 'local',
    };
    await agents.create(birth, async (child) => {
      await child.context.config.change({ model: 'fake', ...(profile ? { profile } : {}) });
      log.append([copiedHistory(log.state, child.id, 'main')]);
      const { messages } = await log.store({ messages: [{ role: 'user' as const, content: [], toolCalls: [] }] });
      await child.runTurn({ origin: { kind: 'user' }, messages }, new AbortController().signal);
    });
    expect(talk.results().at(-1)).toBe('mcp__a__one: hi');
  });
});

describe('every tool is listed', () => {
  const without = (...missing: string[]) =>
    new Set([...ready.capabilities].filter((capability) => !missing.includes(capability)));

  it.each<[string, Facts]>([
    ['while the flag is off', { flag: false }],
    ['to a model that cannot load', { model: { ...ready, capabilities: without('dynamically_loaded_tools') } }],
    ['to a model without tools', { model: { ...ready, capabilities: without('tool_use') } }],
    ['where the protocol has no place for schemas', { model: { ...ready, protocol: 'anthropic' } }],
    [
      'where the tool that loads is taken away',
      {
        services: {
          toolPolicy: (all, bound) =>
            activeTools(all, { profile: { tools: bound?.tools ?? '*' }, sessionDisabled: ['select_tools'] }),
        },
      },
    ],
  ])('%s, and nothing is said of loading', async (_, facts) => {
    const talk = await talkWith([use('mcp__a__one'), use('select_tools', { names: ['mcp__a__one'] }), done], facts);
    await talk.turn('go');
    expect(listed(talk.requests[0])).toEqual(['mcp__a__one', 'mcp__a__two']);
    expect(told(talk.requests[2])).toEqual([]);
    expect(talk.results()).toEqual(['mcp__a__one: hi', expect.stringContaining('"select_tools" is disabled')]);
  });

  it('after the flag was switched off, and requests contain no loaded schemas any more', async () => {
    const facts: Facts = {};
    const talk = await talkWith([select('mcp__a__one'), done, use('mcp__a__two'), done, done], facts);
    await talk.turn('go');
    facts.flag = false;
    await talk.turn('again');
    expect(told(talk.requests[2])).toEqual([]);
    expect(listed(talk.requests[2])).toEqual(['mcp__a__one', 'mcp__a__two']);
    expect(talk.results().at(-1)).toBe('mcp__a__two: hi');
    facts.flag = true;
    await talk.turn('and again');
    expect(told(talk.requests[4])).toEqual(['<tools_added> mcp__a__one mcp__a__two', 'system mcp__a__one']);
  });

  it('from the next turn on when the model is changed in one', async () => {
    const facts: Facts = {};
    const change: ModelAnswer = async () => {
      facts.model = { ...ready, protocol: 'anthropic' };
      return {
        parts: [],
        calls: [{ id: 'call_x', name: 'Read', arguments: '{"text":"x"}' }],
        finishReason: 'tool_calls',
      };
    };
    const talk = await talkWith([change, done, done], facts);
    await talk.turn('go');
    await talk.turn('again');
    expect(talk.requests.map((request) => listed(request)?.length)).toEqual([1, 1, 2]);
  });

  it('but the tool that loads is active for profiles that do not name it', async () => {
    const policy: Facts = {
      services: { toolPolicy: (all, bound) => activeTools(all, { profile: { tools: bound?.tools ?? '*' } }) },
    };
    const talk = await talkWith([done], policy);
    await talk.turn('go');
    expect(names(talk.requests[0] ?? expect.unreachable())).toContain('select_tools');
    expect(told(talk.requests[0])).toHaveLength(1);
  });
});
