/** Submitting prompts: the body, the order of the checks, readiness, overrides, idempotent ids. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTalk, resumeTalk, wireMessages, wireText } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

const text = (value: string) => ({ type: 'text', text: value });
const say = (value: string) => ({ content: [text(value)] });
const PIXEL = {
  png: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  jpeg: Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0x10]).toString('base64'),
  gif: Buffer.from('GIF89a\u0001').toString('base64'),
  webp: Buffer.from('RIFF\u0001\u0002\u0003\u0004WEBPVP8 ').toString('base64'),
};

let world: World;
beforeAll(async () => {
  world = await startWorld({
    modelRecord: { support_efforts: ['low', 'high'], default_effort: 'low' },
    models: { second: { model: 'fake-2', capabilities: ['tool_use'] } },
  });
});
afterAll(() => world.close());

const submit = (sessionId: string, body: unknown) => world.api('POST', `/sessions/${sessionId}/prompts`, body);

describe('the body', () => {
  let sessionId: string;
  beforeAll(async () => {
    sessionId = (await world.session()).id;
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['no content', {}, 'content'],
    ['content that is no list', { content: 'hi' }, 'content'],
    ['no parts', { content: [] }, 'content'],
    ['a part that is no object', { content: ['hi'] }, 'content.0'],
    ['a part of an unknown type', { content: [{ type: 'audio' }] }, 'content.0.type'],
    ['the second part', { content: [text('a'), { type: 'nope' }] }, 'content.1.type'],
    ['text without text', { content: [{ type: 'text' }] }, 'content.0.text'],
    ['an image without source', { content: [{ type: 'image' }] }, 'content.0.source'],
    ['an unknown source', { content: [{ type: 'image', source: { kind: 'ftp' } }] }, 'content.0.source.kind'],
    ['an empty url', { content: [{ type: 'image', source: { kind: 'url', url: '' } }] }, 'content.0.source.url'],
    [
      'an empty url id',
      { content: [{ type: 'video', source: { kind: 'url', url: 'u', id: '' } }] },
      'content.0.source.id',
    ],
    [
      'base64 without type',
      { content: [{ type: 'image', source: { kind: 'base64', data: 'AA' } }] },
      'content.0.source.media_type',
    ],
    [
      'base64 without data',
      { content: [{ type: 'image', source: { kind: 'base64', media_type: 'image/png', data: '' } }] },
      'content.0.source.data',
    ],
    [
      'an empty file id',
      { content: [{ type: 'image', source: { kind: 'file', file_id: '' } }] },
      'content.0.source.file_id',
    ],
    [
      'a file without name',
      { content: [{ type: 'file', file_id: 'f', media_type: 'a/b', size: 1 }] },
      'content.0.name',
    ],
    [
      'a negative size',
      { content: [{ type: 'file', file_id: 'f', name: '', media_type: 'a/b', size: -1 }] },
      'content.0.size',
    ],
    ['a call without id', { content: [{ type: 'tool_use', tool_name: 'Read' }] }, 'content.0.tool_call_id'],
    ['a result without id', { content: [{ type: 'tool_result' }] }, 'content.0.tool_call_id'],
    ['thinking without text', { content: [{ type: 'thinking' }] }, 'content.0.thinking'],
    ['an empty agent id', { ...say('x'), agent_id: '' }, 'agent_id'],
    ['an empty prompt id', { ...say('x'), prompt_id: '' }, 'prompt_id'],
    ['no skills', { ...say('x'), skills: [] }, 'skills'],
    ['a skill without name', { ...say('x'), skills: [{ args: 'a' }] }, 'skills.0.name'],
    ['skill arguments that are no text', { ...say('x'), skills: [{ name: 's', args: 1 }] }, 'skills.0.args'],
    ['an empty profile', { ...say('x'), profile: '' }, 'profile'],
    ['an empty model', { ...say('x'), model: '' }, 'model'],
    ['an empty effort', { ...say('x'), thinking: '' }, 'thinking'],
    ['an unknown permission mode', { ...say('x'), permission_mode: 'ask' }, 'permission_mode'],
    ['null for an optional member', { ...say('x'), permission_mode: null }, 'permission_mode'],
    ['disabled tools that are no list', { ...say('x'), disabled_tools: 'Bash' }, 'disabled_tools'],
    ['disabled tools that are no text', { ...say('x'), disabled_tools: [1] }, 'disabled_tools.0'],
    ['metadata that is no object', { ...say('x'), metadata: 'm' }, 'metadata'],
    ['a plan mode that is no boolean', { ...say('x'), plan_mode: 1 }, 'plan_mode'],
    ['a swarm mode that is no boolean', { ...say('x'), swarm_mode: 'on' }, 'swarm_mode'],
    ['an objective that is no text', { ...say('x'), goal_objective: 1 }, 'goal_objective'],
    ['an unknown goal control', { ...say('x'), goal_control: 'stop' }, 'goal_control'],
  ])('%s is refused', async (_what, body, path) => {
    const answer = await submit(sessionId, body);
    expect(answer).toMatchObject({ code: 40001, data: null, details: [{ path }] });
    if (/\.(type|kind)$/.test(path)) expect(answer.details).toEqual([{ path, message: 'Invalid input' }]);
  });

  test('no body is refused', async () => {
    expect(await submit(sessionId, undefined)).toMatchObject({ code: 40001, data: null });
  });

  test('members that are only validated, and blank text, are accepted', async () => {
    const talk = await startTalk(world);
    const { prompt, ended } = await talk.turn('', [{ text: 'Yes?' }], {
      metadata: { a: 1 },
      plan_mode: true,
      swarm_mode: true,
      goal_objective: 'world peace',
      goal_control: 'resume',
      unknown_member: 1,
    });
    expect(prompt.content).toEqual([text('')]);
    expect(ended.reason).toBe('completed');
    expect(await world.ok('GET', `${talk.path}/goal`)).toBeNull();
    expect(await talk.status()).toMatchObject({ plan_mode: false, swarm_mode: false });
  });

  test('calls, results and thinking in the content are dropped', async () => {
    const talk = await startTalk(world);
    const dropped = [
      { type: 'tool_use', tool_call_id: 'c', tool_name: 'Read' },
      { type: 'tool_result', tool_call_id: 'c', output: 'x' },
      { type: 'thinking', thinking: 'hm' },
    ];
    expect(await submit(talk.session.id, { content: dropped })).toMatchObject({
      code: 40001,
      details: [{ path: 'content', message: 'prompt has no usable content' }],
    });
    const { prompt } = await talk.turn('', [{ text: 'Hi.' }], { content: [...dropped, text('a'), text('b')] });
    expect(prompt.content).toEqual([text('a'), text('b')]);
    expect(talk.all('turn.started')[0]?.payload.prompt).toBe('ab');
  });
});

describe('the order of checks', () => {
  const nowhere = 'session_none';
  const upload = { content: [{ type: 'image', source: { kind: 'file', file_id: 'f_1' } }] };
  const media = { content: [{ type: 'video', source: { kind: 'session_media', file_id: 'm_1' } }] };

  test.each<[string, string, Record<string, unknown>, number, string]>([
    ['the body before the session', nowhere, { content: [] }, 40001, 'content'],
    ['uploads before the session', nowhere, upload, 40407, 'file not found: f_1'],
    [
      'a file part before the session',
      nowhere,
      { content: [{ type: 'file', file_id: 'f_2', name: 'n', media_type: 'a/b', size: 0 }] },
      40407,
      'file not found: f_2',
    ],
    [
      'the session before skills',
      nowhere,
      { ...say('x'), skills: [{ name: 's' }], prompt_id: 'p' },
      40401,
      'session session_none does not exist',
    ],
    [
      'skills with an id before the skill',
      '',
      { ...say('x'), skills: [{ name: 's' }], prompt_id: 'p' },
      40001,
      'prompt_id: prompt_id cannot be combined with skills',
    ],
    ['skills before stored media', '', { ...media, skills: [{ name: 'greet' }] }, 40415, 'Skill "greet" was not found'],
    ['stored media before the agent', '', { ...media, agent_id: 'agent-9' }, 40407, 'file not found: m_1'],
    [
      'internal addresses before the agent',
      '',
      { content: [{ type: 'image', source: { kind: 'url', url: 'Service-File://m_1' } }], agent_id: 'agent-9' },
      40001,
      'content.0.source.url: must not be an internal media address',
    ],
    [
      'nothing usable before the agent',
      '',
      { content: [{ type: 'thinking', thinking: '' }], agent_id: 'agent-9' },
      40001,
      'content: prompt has no usable content',
    ],
    [
      'the agent before the id',
      '',
      { ...say('x'), agent_id: 'agent-9', prompt_id: 'used' },
      40401,
      'agent agent-9 does not exist',
    ],
    [
      'the id before readiness',
      '',
      { ...say('x'), prompt_id: 'used', model: 'gone' },
      40903,
      'prompt used already completed',
    ],
    [
      'readiness before the profile',
      '',
      { ...say('x'), model: 'gone', profile: 'nobody' },
      40113,
      'model gone is not configured',
    ],
    [
      'the profile before the effort',
      '',
      { ...say('x'), profile: 'nobody', thinking: 'extreme' },
      40001,
      'profile: Unknown agent profile: "nobody". Available profiles: agent, coder, explore, plan',
    ],
    [
      'the effort',
      '',
      { ...say('x'), thinking: 'extreme' },
      40001,
      'thinking: Thinking effort "extreme" is not supported by model "fake/fake-1". Supported efforts: off, low, high',
    ],
  ])('%s', async (_what, id, body, code, msg) => {
    const talk = await startTalk(world);
    if (!id) await talk.turn('first', [{ text: 'ok' }], { prompt_id: 'used' });
    const { length } = talk.events.durable(talk.session.id);
    const status = await talk.status();
    const answer = await submit(id || talk.session.id, body);
    expect(answer).toMatchObject({ code, msg: code === 40001 && id ? expect.stringContaining(msg) : msg });
    // A refused submit changes nothing.
    expect(await talk.status()).toEqual(status);
    expect(talk.events.durable(talk.session.id)).toHaveLength(length);
  });

  test('a refused submit neither binds the agent nor touches the session nor uses the id', async () => {
    const talk = await startTalk(world);
    const refused = { ...say('x'), prompt_id: 'again', permission_mode: 'yolo', disabled_tools: ['Bash'] };
    expect((await submit(talk.session.id, { ...refused, model: 'gone' })).code).toBe(40113);
    expect((await submit(talk.session.id, { ...refused, thinking: 'extreme' })).code).toBe(40001);
    expect(await talk.status()).toMatchObject({ thinking_level: '', permission: 'manual', context_tokens: 0 });
    expect(await world.ok('GET', talk.path)).toEqual(talk.session);
    expect(talk.events.durable(talk.session.id).map(({ type }) => type)).toEqual(['event.session.created']);
    const { prompt } = await talk.turn('now', [{ text: 'ok' }], { prompt_id: 'again' });
    expect(prompt.prompt_id).toBe('again');
  });
});

describe('readiness', () => {
  const provider = (more: Record<string, unknown> = {}) => ({
    type: 'openai',
    base_url: 'http://127.0.0.1:9/v1',
    ...more,
  });
  const model = (more: Record<string, unknown>) => ({ model: 'm', max_context_size: 1000, ...more });

  test.each<[string, Record<string, unknown>, Record<string, unknown>, { code: number; details?: unknown }]>([
    ['no provider', { providers: {}, models: {} }, {}, { code: 40110 }],
    ['no default model', { default_model: '' }, {}, { code: 40113 }],
    ['an alias that is not there', { default_model: 'gone' }, {}, { code: 40113, details: { model_id: 'gone' } }],
    ['the alias of the request', {}, { model: 'gone' }, { code: 40113, details: { model_id: 'gone' } }],
    [
      'a provider that is not there',
      { default_model: 'm', models: { m: model({ provider: 'gone' }) } },
      {},
      { code: 40113, details: { model_id: 'm', provider_id: 'gone' } },
    ],
    [
      'neither provider nor address',
      { default_model: 'm', models: { m: model({}) } },
      {},
      { code: 40113, details: { model_id: 'm' } },
    ],
    [
      'no key',
      { default_model: 'm', providers: { p: provider() }, models: { m: model({ provider: 'p' }) } },
      {},
      { code: 40111, details: { provider_id: 'p' } },
    ],
    [
      'a blank key',
      { default_model: 'm', providers: { p: provider({ api_key: ' ' }) }, models: { m: model({ provider: 'p' }) } },
      {},
      { code: 40111, details: { provider_id: 'p' } },
    ],
    [
      'a login without a token',
      {
        default_model: 'm',
        providers: { p: provider({ oauth: { storage: 'file', key: 'k' } }) },
        models: { m: model({ provider: 'p' }) },
      },
      {},
      { code: 40111, details: { provider_id: 'p' } },
    ],
  ])('%s', async (_what, config, body, expected) => {
    const bare = await startWorld({ config, env: () => ({}) });
    try {
      const session = await bare.session();
      const answer = await bare.api('POST', `/sessions/${session.id}/prompts`, { ...say('x'), ...body });
      expect(answer).toMatchObject({ data: null, ...expected });
      if (!('details' in expected)) expect(answer.details).toBeUndefined();
    } finally {
      await bare.close();
    }
  });

  test('the configuration file is read again first', async () => {
    const bare = await startWorld();
    try {
      const session = await bare.session();
      const path = join(bare.server.home, 'config.toml');
      const before = await readFile(path, 'utf8');
      await writeFile(path, before.replace('default_model = "fake/fake-1"', ''));
      const send = () => bare.api('POST', `/sessions/${session.id}/prompts`, say('x'));
      expect(await send()).toMatchObject({ code: 40113 });
      await writeFile(path, before);
      bare.model.enqueue({ text: 'ok' });
      expect(await send()).toMatchObject({ code: 0 });
    } finally {
      await bare.close();
    }
  });
});

describe('the reply', () => {
  test('is the prompt, after its turn started', async () => {
    const talk = await startTalk(world);
    const held = world.model.enqueue({ text: 'Hello', hold: true });
    const prompt = await world.prompt(talk.session.id, 'Hi');
    expect(prompt).toEqual({
      prompt_id: expect.stringMatching(/^msg_[0-9A-HJKMNP-TV-Z]{26}$/),
      user_message_id: prompt.prompt_id,
      status: 'running',
      content: [text('Hi')],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect((await talk.nth('turn.started', 1)).payload).toMatchObject({ promptId: prompt.prompt_id, prompt: 'Hi' });
    expect(await world.ok('GET', `${talk.path}/prompts`)).toEqual({ active: prompt, queued: [] });
    held.release();
    await talk.settled(prompt.prompt_id);
    expect(await world.ok('GET', `${talk.path}/prompts`)).toEqual({ active: null, queued: [] });
    expect((await talk.messages())[0]).toMatchObject({ id: prompt.prompt_id, role: 'user', content: [text('Hi')] });
  });

  test('titles the session and sets its last prompt, with secrets redacted', async () => {
    const talk = await startTalk(world);
    await talk.turn('Deploy with\n\tpassword = hunter2', [{ text: 'No.' }]);
    await talk.turn('Why not?', [{ text: 'Because.' }]);
    expect(await world.ok('GET', talk.path)).toMatchObject({
      title: 'Deploy with password = [redacted]',
      last_prompt: 'Why not?',
      last_turn_reason: 'completed',
    });
    expect(talk.all('session.meta.updated').map(({ payload }) => payload.patch)).toEqual([
      {
        title: 'Deploy with password = [redacted]',
        isCustomTitle: false,
        lastPrompt: 'Deploy with password = [redacted]',
      },
      { lastPrompt: 'Why not?' },
    ]);
  });

  test('refuses an unknown session and agent', async () => {
    expect(await world.api('GET', '/sessions/none/prompts')).toMatchObject({ code: 40401 });
    const talk = await startTalk(world);
    await talk.turn('to main', [{ text: 'ok' }], { agent_id: 'main' });
    expect(await submit(talk.session.id, { ...say('x'), agent_id: 'Main' })).toMatchObject({
      code: 40401,
      msg: 'agent Main does not exist',
    });
  });
});

describe('overrides', () => {
  test('apply until they are changed again', async () => {
    const talk = await startTalk(world);
    await talk.turn('one', [{ text: '1' }], {
      profile: 'agent',
      thinking: 'high',
      permission_mode: 'yolo',
      disabled_tools: ['Bash', 'NoSuchTool', 'mcp__x__*'],
    });
    await talk.turn('two', [{ text: '2' }]);
    expect(await talk.status()).toMatchObject({ model: 'fake/fake-1', thinking_level: 'high', permission: 'yolo' });
    const names = () => wireToolNames(world).filter((name) => ['Bash', 'Read'].includes(name));
    expect(names()).toEqual(['Read']);
    await world.restart();
    const again = await resumeTalk(world, talk.session);
    await again.turn('three', [{ text: '3' }], { model: 'second', permission_mode: 'manual', disabled_tools: [] });
    expect(names()).toEqual(['Read', 'Bash']);
    expect(await again.status()).toMatchObject({ model: 'second', thinking_level: 'off', permission: 'manual' });
    expect(world.model.requests.at(-1)?.body.model).toBe('fake-2');
  });

  test('the same profile is accepted again', async () => {
    const talk = await startTalk(world);
    for (const answer of ['1', '2']) {
      expect((await talk.turn('go', [{ text: answer }], { profile: 'agent' })).ended.reason).toBe('completed');
    }
  });

  test('an entry of the tool list that matches no tool causes one warning', async () => {
    const talk = await startTalk(world);
    await talk.turn('one', [{ text: '1' }], { disabled_tools: ['NoSuchTool', 'Bash'] });
    await talk.turn('two', [{ text: '2' }]);
    expect(talk.all('warning').map(({ payload }) => payload)).toMatchObject([
      { code: 'tool-pattern-no-match', message: expect.stringContaining('NoSuchTool') },
    ]);
  });
});

describe('prompt_id', () => {
  test('one of three concurrent submits is accepted', async () => {
    const talk = await startTalk(world);
    const held = world.model.enqueue({ text: 'once', hold: true });
    const send = () => submit(talk.session.id, { ...say('x'), prompt_id: 'any text: ok/ü' });
    const codes = (await Promise.all([send(), send(), send()])).map(({ code }) => code);
    expect(codes.toSorted((a, b) => a - b)).toEqual([0, 40927, 40927]);
    expect(await send()).toMatchObject({ code: 40927, msg: "prompt_id 'any text: ok/ü' is already in use" });
    held.release();
    await talk.settled('any text: ok/ü');
    expect(await send()).toMatchObject({
      code: 40903,
      msg: 'prompt any text: ok/ü already completed',
      data: { aborted: false },
    });
    expect((await talk.messages())[0]?.id).toBe('any text: ok/ü');
    expect(talk.all('prompt.submitted')).toHaveLength(1);
  });

  test('is in use while queued, and permanently used after completion, failure, abort and restart', async () => {
    const talk = await startTalk(world);
    const send = async (id: string) => (await submit(talk.session.id, { ...say('x'), prompt_id: id })).code;
    const abort = (id: string) => world.ok('POST', `${talk.path}/prompts/${id}:abort`);
    await talk.turn('x', [{ text: 'ok' }], { prompt_id: 'completed' });
    await talk.turn('x', [{ status: 400, error: 'bad' }], { prompt_id: 'failed' });
    await talk.prompt('x', [{ text: 'a', hold: true }], { prompt_id: 'aborted' });
    await talk.prompt('x', [], { prompt_id: 'removed' });
    expect(await send('removed')).toBe(40927);
    await abort('removed');
    await abort('aborted');
    await talk.settled('aborted');
    const ids = ['completed', 'failed', 'aborted', 'removed'];
    for (const id of ids) expect([id, await send(id)]).toEqual([id, 40903]);
    await world.restart();
    for (const id of ids) expect([id, await send(id)]).toEqual([id, 40903]);
  });
});

describe('images', () => {
  const image = (media_type: string, data: string) => ({ type: 'image', source: { kind: 'base64', media_type, data } });
  const url = (address: string, id?: string) => ({
    type: 'image',
    source: { kind: 'url', url: address, ...(id ? { id } : {}) },
  });

  async function shown(...content: unknown[]) {
    const talk = await startTalk(world);
    const { prompt } = await talk.turn('', [{ text: 'seen' }], { content });
    const [message] = await talk.messages();
    const sent = wireMessages(world, -1).find(({ role }) => role === 'user');
    const events = talk.all('prompt.submitted')[0]?.payload.content;
    return { talk, reply: prompt.content, message: message?.content, sent: sent?.content, events };
  }

  test.each(Object.entries(PIXEL))('%s reaches the model unmodified', async (kind, data) => {
    const type = `image/${kind}`;
    const { reply, message, sent, events, talk } = await shown(text('look'), image(type, data));
    expect(reply).toEqual([text('look'), image(type, data)]);
    const dataUrl = `data:${type};base64,${data}`;
    expect(message).toEqual([text('look'), url(dataUrl)]);
    expect(sent).toEqual([text('look'), { type: 'image_url', image_url: expect.objectContaining({ url: dataUrl }) }]);
    // Events and lists never contain bytes.
    expect(events).toEqual([text('look'), text('[image]')]);
    expect(await world.ok('GET', talk.path)).toMatchObject({ last_prompt: 'look [image]' });
  });

  test('the bytes determine the type, not the declared type', async () => {
    const { reply, message } = await shown(image('image/bmp', PIXEL.png));
    expect(reply).toEqual([image('image/png', PIXEL.png)]);
    expect(message).toEqual([url(`data:image/png;base64,${PIXEL.png}`)]);
  });

  test('bytes that are no image are sent under the declared type', async () => {
    expect((await shown(image('image/png', 'bm9wZQ=='))).reply).toEqual([image('image/png', 'bm9wZQ==')]);
  });

  test('a type that no model accepts becomes an attached file', async () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>');
    const { reply, message, sent } = await shown(image('image/svg+xml', svg.toString('base64')));
    const [part] = reply;
    if (part?.type !== 'text') throw new Error('no text part');
    const path = /(\/\S+\/attachments\/[0-9a-f]{32}-image\.svg)/.exec(part.text)?.[1] ?? '';
    expect(await readFile(path)).toEqual(svg);
    expect(part.text).toContain('image/svg+xml');
    expect(message).toEqual([part]);
    expect(JSON.stringify(sent)).toContain(path);
  });

  test('URLs are neither fetched nor changed; their id is kept', async () => {
    const { reply, message } = await shown(url('https://example.com/a.png?x=.svg', 'img-1'));
    expect(reply).toEqual([url('https://example.com/a.png?x=.svg', 'img-1')]);
    expect(message).toEqual([url('https://example.com/a.png?x=.svg', 'img-1')]);
  });

  test.each(['svg', 'BMP', 'tiff', 'heic', 'avif', 'ico'])('a URL ending in .%s becomes a notice', async (ending) => {
    const address = `https://example.com/a.${ending}?download=1`;
    const { reply } = await shown(url(address));
    expect(reply).toEqual([{ type: 'text', text: expect.stringContaining(address) }]);
    expect(JSON.stringify(reply)).toContain(`image/${ending.toLowerCase()}`);
  });

  test('a data URL is base64 in replies, and verbatim in messages', async () => {
    const address = `data:image/gif;base64,${PIXEL.gif}`;
    const { reply, message, events } = await shown(url(address));
    expect(reply).toEqual([image('image/gif', PIXEL.gif)]);
    expect(message).toEqual([url(address)]);
    expect(events).toEqual([text('[image]')]);
  });

  test('a text-only model may be sent an image, too', async () => {
    const talk = await startTalk(world);
    const content = [image('image/png', PIXEL.png)];
    const { ended } = await talk.turn('', [{ text: 'blind' }], { model: 'second', content });
    expect(ended.reason).toBe('completed');
    expect(JSON.stringify(wireMessages(world, -1))).toContain(PIXEL.png);
  });

  test('media may make a body large, up to 32 MiB', async () => {
    const talk = await startTalk(world);
    const large = Buffer.concat([Buffer.from(PIXEL.png, 'base64'), Buffer.alloc(2_000_000, 1)]).toString('base64');
    const { ended } = await talk.turn('', [{ text: 'big' }], { content: [image('image/png', large)] });
    expect(ended.reason).toBe('completed');
    const answer = await submit(talk.session.id, { content: [text('x'.repeat(33_554_432))] });
    expect(answer).toMatchObject({
      status: 200,
      code: 40001,
      details: [{ path: '' }],
      msg: 'Request body is too large',
    });
  });
});

test('usage and context size are in status and snapshot', async () => {
  const talk = await startTalk(world);
  await talk.turn('Count', [{ text: '1', usage: { input: 100, output: 7, cached: 40 } }]);
  const tokens = { context_tokens: 107, max_context_tokens: 262_144 };
  expect(await talk.status()).toMatchObject({ ...tokens, context_usage: 107 / 262_144 });
  await talk.turn('Again', [{ text: '2', usage: { input: 120, output: 10, cached: 110 } }]);
  expect((await world.snapshot(talk.session.id)).session).toMatchObject({
    agent_config: { model: 'fake/fake-1' },
    usage: {
      input_tokens: 70,
      output_tokens: 17,
      cache_read_tokens: 150,
      cache_creation_tokens: 0,
      context_tokens: 130,
      context_limit: 262_144,
    },
  });
  await world.restart();
  expect((await world.snapshot(talk.session.id)).session.usage).toMatchObject({
    input_tokens: 70,
    context_tokens: 130,
  });
});

test('a message longer than a journal string survives whole', async () => {
  const talk = await startTalk(world);
  const long = 'é'.repeat(40_000);
  await talk.turn(long, [{ text: long }]);
  await world.restart();
  const [prompt, , answer] = await talk.messages();
  expect([prompt?.content, answer?.content]).toEqual([[text(long)], [text(long)]]);
  expect(wireMessages(world, -1).map(wireText).join('')).toContain(long);
});

/** Names of the tools in the last request. */
function wireToolNames(from: World): string[] {
  const tools = (from.model.requests.at(-1)?.body.tools ?? []) as { function: { name: string } }[];
  return tools.map((tool) => tool.function.name);
}
