/** Slash commands on the page: the list, the typed line, the texts that were loaded, the cards. */
import { describe, expect, it } from 'vitest';
import type { Message } from '#schema/rest/message.ts';
import type { SkillDescriptor } from '#schema/rest/skill.ts';
import { createRest } from '@service-code/client';
import { activateTyped } from '../../../web/features/skills/completion.ts';
import { textOfActivation, textOfCall } from '../../../web/features/skills/loaded-text.ts';
import { findInMessages } from '../../../web/features/skills/requests.ts';
import {
  activationOf,
  argumentHint,
  matchingSkills,
  offeredSkills,
  severalSkillsOf,
  slashAt,
} from '../../../web/features/skills/skills.ts';
import { activationIn, isActivationDrawn, skillViews } from '../../../web/features/skills/views.ts';
import { createToolViews } from '../../../web/render/tool-view.ts';

const skill = (name: string, more: Partial<SkillDescriptor> = {}): SkillDescriptor => ({
  name,
  description: `About ${name}`,
  path: `/p/${name}.md`,
  source: 'project',
  ...more,
});

it.each([
  ['/', 1, { start: 0, end: 1, query: '' }],
  ['/gre', 4, { start: 0, end: 4, query: 'gre' }],
  ['/greet bob', 3, { start: 0, end: 6, query: 'gr' }],
  ['/tools:db/migrate', 17, { start: 0, end: 17, query: 'tools:db/migrate' }],
  ['/greet bob', 7, undefined],
  ['/greet /wr now', 10, { start: 7, end: 10, query: 'wr' }],
  ['/greet bob /wr', 14, undefined],
  ['/greet', 0, undefined],
  ['/fix it', 1, undefined],
  ['see /greet', 10, undefined],
  ['', 0, undefined],
])('in %j with the caret at %i, this part is completed: %j', (text, caret, part) => {
  expect(slashAt(text, caret)).toEqual(part);
});

describe('the list', () => {
  const all = [
    skill('Greet', { description: 'Say hello to a person' }),
    skill('tools:db/migrate', { type: 'command', description: 'Moves tables' }),
    skill('write-goal', { type: 'inline' }),
  ];
  const found = (query: string) => matchingSkills(all, query).map(({ key }) => key);

  it('has what a person can activate', () => {
    const types = [undefined, 'prompt', 'inline', 'flow', 'command', 'reference', 'of-tomorrow'];
    const skills = types.map((type) => skill(`a-${type}`, type === undefined ? {} : { type }));
    expect(offeredSkills(skills)).toEqual(skills.slice(0, 5));
  });

  it('finds letters of a name and words of a description, names first', () => {
    expect(found('')).toEqual(['Greet', 'tools:db/migrate', 'write-goal']);
    expect(found('grt')[0]).toBe('Greet');
    expect(found('wg')).toEqual(['write-goal']);
    expect(found('HELLO')).toEqual(['Greet']);
    expect(found('tables')).toEqual(['tools:db/migrate']);
    expect(found('usr/bin')).toEqual([]);
    expect(matchingSkills([skill('z', { description: 'goal' }), ...all], 'goal').map(({ key }) => key)).toEqual([
      'write-goal',
      'z',
    ]);
  });

  it('marks the matched letters of a name, and inserts its command', () => {
    expect(matchingSkills(all, 'wg')).toMatchObject([
      {
        insertion: { text: '/write-goal' },
        pieces: [
          { text: 'w', isMatched: true },
          { text: 'rite-', isMatched: false },
          { text: 'g', isMatched: true },
          { text: 'oal', isMatched: false },
        ],
      },
    ]);
    expect(matchingSkills(all, 'hello')).toMatchObject([{ pieces: [{ text: 'Greet', isMatched: false }] }]);
  });

  it.each([
    ['Reviews <file> and <file>, or all with [--all].', '<file> [--all]'],
    ['Migrate to $ARGUMENTS now.', '$ARGUMENTS'],
    ['See [the guide](https://example.org); costs 5 $, a < b > c.', ''],
    ['<a> <b> <c> <d> <e>', '<a> <b> <c> <d>'],
  ])('has the arguments that a description names: %j', (description, hint) => {
    expect(argumentHint(description)).toBe(hint);
  });
});

describe('a typed line', () => {
  const all = [skill('Greet'), skill('greet all'), skill('tools:db/migrate', { type: 'command' })];

  it.each([
    ['/greet', { name: 'Greet' }],
    ['/GREET  bob\nand ann ', { name: 'Greet', args: 'bob\nand ann' }],
    ['/greet all now', { name: 'greet all', args: 'now' }],
    ['/tools:db/migrate v2', { name: 'tools:db/migrate', args: 'v2' }],
    ['/greeting', undefined],
    ['/usr/bin is full', undefined],
    [' /greet', undefined],
    ['greet', undefined],
  ])('%j activates %j', (text, activation) => {
    expect(activationOf(text, all)).toEqual(activation);
  });

  const image = { type: 'image' as const, source: { kind: 'file' as const, file_id: 'f_1' } };
  async function sent(text: string) {
    const requests: unknown[] = [];
    const rest = createRest({
      baseUrl: 'http://server/',
      token: () => 't',
      fetch(url, init = {}) {
        requests.push([init.method, String(url).replace('http://server/api/v1/', ''), init.body]);
        const data = { skills: [...all, skill('facts', { type: 'reference' })] };
        return Promise.resolve(Response.json({ code: 0, msg: 'ok', data }));
      },
    });
    const isSent = await activateTyped({ rest, sessionId: 's/1', text, attachments: [image] });
    return { isSent, requests };
  }

  it('is sent with its arguments and attachments', async () => {
    expect(await sent('/tools:db/migrate v2')).toEqual({
      isSent: true,
      requests: [
        ['GET', 'sessions/s%2F1/skills', undefined],
        [
          'POST',
          'sessions/s%2F1/skills/tools%3Adb%2Fmigrate:activate',
          JSON.stringify({ args: 'v2', attachments: [image] }),
        ],
      ],
    });
  });

  it('is a prompt with several skills, which has no id, if more names follow', async () => {
    expect(severalSkillsOf('/greet /greet all hello', all)).toEqual({ names: ['Greet', 'greet all'], prompt: 'hello' });
    expect(severalSkillsOf('/greet /tools:db/migrate v2', all)).toBeUndefined();
    const { isSent, requests } = await sent('/greet /GREET all\nhello');
    expect(isSent).toBe(true);
    expect(requests[1]).toEqual([
      'POST',
      'sessions/s%2F1/prompts',
      JSON.stringify({
        skills: [{ name: 'Greet' }, { name: 'greet all' }],
        content: [image, { type: 'text', text: 'hello' }],
      }),
    ]);
  });

  it('is not known to have arrived after a lost reply', async () => {
    const rest = createRest({
      baseUrl: 'http://server/',
      token: () => 't',
      fetch: (_url, { method } = {}) =>
        method === 'POST'
          ? Promise.reject(new Error('reset'))
          : Promise.resolve(Response.json({ code: 0, msg: 'ok', data: { skills: all } })),
    });
    for (const text of ['/greet bob', '/greet /greet all hello'])
      await expect(activateTyped({ rest, sessionId: 's', text, attachments: [] })).rejects.toThrow(
        'Check the conversation before you send again',
      );
  });

  it('is left to others with an unknown name or that of a reference, and any other text without a request', async () => {
    for (const text of ['/usr/bin is full', '/facts']) {
      expect(await sent(text)).toMatchObject({ isSent: false, requests: [['GET', expect.anything(), undefined]] });
    }
    for (const text of ['go', '', '/', '/ greet']) expect(await sent(text)).toEqual({ isSent: false, requests: [] });
  });
});

describe('a loaded text', () => {
  const facts = { session_id: 's', created_at: '2026-01-02T03:04:05.000Z' };
  const message = (id: string, role: Message['role'], more: Partial<Message> = {}): Message => ({
    ...facts,
    id,
    role,
    content: [],
    ...more,
  });
  const block = (id: string, args: string | undefined, trigger: 'user-slash' | 'model-tool' = 'model-tool') =>
    message(id, 'user', {
      content: [{ type: 'text', text: `Block ${id}` }],
      metadata: {
        origin: {
          kind: 'skill_activation',
          trigger,
          activationId: id,
          skillName: 'Greet',
          ...(args === undefined ? {} : { skillArgs: args }),
        },
      },
    });
  const result = (tool_call_id: string) =>
    message(tool_call_id, 'tool', { content: [{ type: 'tool_result', tool_call_id, output: '' }] });
  const oldestFirst = [
    block('slash', 'bob', 'user-slash'),
    message('a1', 'assistant'),
    result('c1'),
    result('c2'),
    block('b1', 'bob'),
    block('b2', undefined),
    message('a2', 'assistant'),
    result('c3'),
    message('a3', 'assistant'),
    block('b3', 'bob'),
  ];
  const messages = oldestFirst.toReversed();
  const ofCall = (id: string, args?: string) => textOfCall(messages, { id, name: 'GREET', args });

  it('of an activation has its id', () => {
    expect(textOfActivation(messages, 'slash')).toBe('Block slash');
    expect(textOfActivation(messages, 'other')).toBeUndefined();
    const bundled = message('p', 'user', {
      content: [{ type: 'text', text: 'Be kind.' }],
      metadata: { origin: { kind: 'user', skillActivations: [{ activationId: 'bundled', skillName: 'Greet' }] } },
    });
    expect(textOfActivation([...messages, bundled], 'bundled')).toBe('');
  });

  it('of a call is between its result and the next response', () => {
    expect(ofCall('c1', 'bob')).toBe('Block b1');
    expect(ofCall('c2')).toBe('Block b2');
    expect(ofCall('c3', 'bob')).toBe('');
    expect(ofCall('c1', 'ann')).toBe('');
    expect(ofCall('c4')).toBeUndefined();
  });

  it('is searched page by page, up to a limit', async () => {
    const queries: unknown[] = [];
    const rest = createRest({
      baseUrl: 'http://server/',
      token: () => 't',
      fetch(url) {
        const before = new URL(String(url)).searchParams.get('before_id');
        queries.push(before);
        const next = before === null ? 0 : Number(before) + 1;
        return Promise.resolve(
          Response.json({ code: 0, msg: 'ok', data: { items: [message(String(next), 'user')], has_more: true } }),
        );
      },
    });
    const read = (id: string) => findInMessages(rest, 's', (all) => all.find((one) => one.id === id)?.id);
    expect(await read('2')).toBe('2');
    expect(queries).toEqual([null, '0', '1']);
    expect(await read('none')).toBeUndefined();
    expect(queries).toHaveLength(23);
  });
});

describe('cards', () => {
  const marker = (payload: unknown) => ({ kind: 'marker' as const, markerId: 'm', marker: 'skill', payload, at: '' });
  const slash = { activationId: 'a', skillName: 'Greet', skillArgs: 'bob', trigger: 'user-slash' };

  it('display the activations of people', () => {
    expect(activationIn(marker({ ...slash, skillPath: '/p', skillSource: 'project' }))).toMatchObject({
      kind: 'tools.skill',
      line: 'Greet bob',
      path: '/p',
      source: 'of this project',
    });
    const command = { activationId: 'a', pluginId: 'tools', commandName: 'plain', variant: 'plugin_command' };
    expect(activationIn(marker(command))).toMatchObject({
      kind: 'skills.pluginCommand',
      line: 'tools:plain',
      source: 'of the plugin tools',
    });
    expect(isActivationDrawn(marker(slash))).toBe(true);
    for (const payload of [{ ...slash, trigger: 'model-tool' }, { trigger: 'user-slash' }, null, 'x']) {
      expect(isActivationDrawn(marker(payload))).toBe(false);
    }
  });

  it('display the calls of Skill, for arguments of any type', () => {
    const { ofCall } = createToolViews([skillViews]);
    const call = { name: 'Skill', output: undefined, id: 'c1', state: 'done' as const };
    expect(ofCall({ ...call, input: { skill: 'Greet', args: 'bob' } })).toEqual({
      verb: 'Skill',
      subject: 'Greet bob',
      body: { kind: 'skill', name: 'Greet', args: 'bob', loadedBy: 'c1' },
    });
    expect(ofCall({ ...call, state: 'failed', input: { skill: 7 } })).toMatchObject({
      subject: '',
      body: { args: undefined, loadedBy: undefined },
    });
    const display = { kind: 'skill_call' as const, skill_name: 'Greet' };
    expect(ofCall({ ...call, name: 'Other', input: {}, display })).toMatchObject({ verb: 'Skill', subject: 'Greet' });
  });
});
