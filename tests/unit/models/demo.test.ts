/** The demo model over HTTP, through the native protocol, as a session uses it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noLogins } from '#support/no-logins.ts';
import { summaryMessage, summaryRequest } from '#server/features/compaction/texts.ts';
import { startDemoModel, type DemoModel } from '#server/models/demo/server.ts';
import { createModelClient, type ModelClient } from '#server/models/stream.ts';
import type { ModelRequest, StreamPart } from '#server/models/types.ts';
import { toModelMessages } from '#server/models/request-history.ts';
import type { ContextMessage, ToolSchema } from '#schema/engine.ts';
import { modelRequest, user } from '#support/model-requests.ts';

const TOOLS: ToolSchema[] = ['Read', 'Write', 'Edit', 'Bash', 'Grep', 'Glob'].map((name) => ({
  name,
  description: name,
  parameters: { type: 'object' },
}));

let demo: DemoModel;
let client: ModelClient;
beforeAll(async () => {
  demo = await startDemoModel();
  client = createModelClient({ logins: noLogins });
});
afterAll(async () => {
  await client.close();
  await demo.close();
});

function ask(messages: ContextMessage[], more: Partial<ModelRequest> = {}): ModelRequest {
  const model: ModelRequest['model'] = {
    alias: 'demo/demo-1',
    wireName: 'demo-1',
    providerId: 'demo',
    providerType: 'native',
    protocol: 'native',
    baseUrl: demo.url,
    credential: { key: demo.key },
    headers: {},
    capabilities: new Set(['thinking', 'tool_use']),
    maxContextTokens: 131_072,
    maxInputTokens: 131_072,
    supportEfforts: [],
    displayName: 'Demo',
  };
  return modelRequest(model, {
    settings: { effort: 'on' },
    tools: TOOLS,
    messages: toModelMessages(messages),
    ...more,
  });
}

async function answer(messages: ContextMessage[], more: Partial<ModelRequest> = {}) {
  const parts: StreamPart[] = [];
  const response = await client.streamModel(ask(messages, more), (part) => parts.push(part));
  const text = response.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  return { response, parts, text };
}

const called = (name: string, args: string): ContextMessage => ({
  role: 'assistant',
  content: [],
  toolCalls: [{ id: 'c1', name, arguments: args }],
});
const answered = (output: string, isError = false): ContextMessage => ({
  role: 'tool',
  content: [{ type: 'text', text: output }],
  toolCalls: [],
  toolCallId: 'c1',
  isError,
});

describe('demo model', () => {
  it('states that it is not a real model, in chunks, with reasoning, a code block and usage', async () => {
    const { response, parts, text } = await answer([user('What is love?')]);
    expect(text).toContain('not a real model');
    expect(text).toMatch(/```toml\n[\s\S]+```/);
    expect(response.parts[0]).toMatchObject({ type: 'think' });
    expect(parts.filter((part) => part.type === 'text').length).toBeGreaterThan(20);
    expect(response.usage?.output).toBeGreaterThan(0);
    const silent = await answer([user('What?')], { settings: { effort: 'off' } });
    expect(silent.parts.some((part) => part.type === 'think')).toBe(false);
  });

  it.each([
    ['read README.md', 'Read', { path: 'README.md' }],
    ['list files', 'Glob', { pattern: '**/*' }],
    ['list src/*.ts', 'Glob', { pattern: 'src/*.ts' }],
    ['search for "two words"', 'Grep', { pattern: 'two words' }],
    ['write notes.txt: a\nb', 'Write', { path: 'notes.txt', content: 'a\nb' }],
    ['run `git status`', 'Bash', { command: 'git status' }],
  ])('%s', async (prompt, name, args) => {
    const { response } = await answer([user(prompt)]);
    expect(response.finishReason).toBe('tool_calls');
    expect(response.calls).toHaveLength(1);
    expect(response.calls[0]?.name).toBe(name);
    expect(JSON.parse(response.calls[0]?.arguments ?? '')).toMatchObject(args);
  });

  it('reports the result of the tool, and its failure', async () => {
    const history = [user('run ls'), called('Bash', '{"command":"ls"}')];
    const done = await answer([...history, answered('a.txt\nb.txt')]);
    expect(done.response.calls).toEqual([]);
    expect(done.text).toContain('```\na.txt\nb.txt\n```');
    const failed = await answer([...history, answered('denied', true)]);
    expect(failed.text).toContain('did not succeed');
  });

  it('reads a file before it edits it', async () => {
    const first = await answer([user('edit a.txt: one -> two')]);
    expect(first.response.calls[0]?.name).toBe('Read');
    const history = [user('edit a.txt: one -> two'), called('Read', '{"path":"a.txt"}'), answered('1\tone')];
    const second = await answer(history);
    expect(JSON.parse(second.response.calls[0]?.arguments ?? '')).toEqual({
      path: 'a.txt',
      old_string: 'one',
      new_string: 'two',
    });
  });

  it('tours every core tool and completes, also after a refusal', async () => {
    const history = [user('tour')];
    const names: string[] = [];
    for (let step = 0; step < 10; step++) {
      const { response } = await answer(history);
      const [call] = response.calls;
      if (!call) break;
      names.push(call.name);
      const id = `c${step}`;
      history.push({ role: 'assistant', content: [], toolCalls: [{ ...call, id }] });
      history.push({ ...answered('done', call.name === 'Write'), toolCallId: id });
    }
    expect(names).toEqual(['Glob', 'Write', 'Read', 'Edit', 'Grep', 'Bash']);
  });

  it('tours todo list, question, plan, subagent and background command where these tools are available', async () => {
    const more = ['TodoList', 'AskUserQuestion', 'EnterPlanMode', 'ExitPlanMode', 'Agent', 'TaskOutput'];
    const tools = [...TOOLS, ...more.map((name) => ({ name, description: name, parameters: { type: 'object' } }))];
    const history = [user('tour')];
    const calls: { name: string; args: unknown }[] = [];
    for (let step = 0; step < 20; step++) {
      const { response } = await answer(history, { tools });
      const [call] = response.calls;
      if (!call) break;
      calls.push({ name: call.name, args: JSON.parse(call.arguments ?? '{}') });
      const id = `c${step}`;
      const output =
        call.name === 'EnterPlanMode' ? 'Plan mode is on. Write the plan to /home/plans/a-plan.md.' : 'done';
      history.push({ role: 'assistant', content: [], toolCalls: [{ ...call, id }] });
      history.push({ ...answered(output), toolCallId: id });
    }
    const names = calls.map(({ name }) => name);
    expect(names).toEqual(
      ['TodoList', 'Glob', 'AskUserQuestion', 'Write', 'Read', 'Edit', 'Grep', 'TodoList', 'EnterPlanMode'].concat([
        'Write',
        'ExitPlanMode',
        'Agent',
        'Bash',
        'Bash',
        'TodoList',
      ]),
    );
    expect(calls[9]?.args).toMatchObject({ path: '/home/plans/a-plan.md' });
    expect(calls[12]?.args).toMatchObject({ run_in_background: true });
  });

  it('answers the request for a summary, and does not treat a summary as a prompt', async () => {
    const asked = summaryRequest(undefined);
    const { response, text } = await answer([
      user('run ls'),
      called('Bash', '{}'),
      answered('a.txt'),
      user('tour'),
      asked,
    ]);
    expect(response.calls).toEqual([]);
    expect(text).toMatch(/- run ls\n- tour$/);
    const again = await answer([user('run ls'), summaryMessage(text, [])]);
    expect(again.response.calls[0]?.name).toBe('Bash');
  });

  it('starts over with each prompt, and does not treat a reminder as one', async () => {
    const reminder: ContextMessage = {
      ...user('<system-reminder>\nerror\n</system-reminder>'),
      origin: { kind: 'injection', variant: 'date_change' },
    };
    const { response } = await answer([
      user('run ls'),
      called('Bash', '{}'),
      answered('x'),
      user('read b.txt'),
      reminder,
    ]);
    expect(response.calls[0]?.name).toBe('Read');
  });

  it.each([
    [['error', 'read b.txt'], 'Read'],
    [['tour', 'count to 3', 'run ls'], 'Bash'],
    [['count to 3', 'What is love?'], undefined],
    [['write a.txt: one\n\ntwo'], 'Write'],
    [['read a.txt\n\n```\nrun ls\n\nrun ls\n```'], 'Read'],
  ])('answers the last of the prompts %j, which had no answers between them', async (prompts, name) => {
    const { response } = await answer(prompts.map(user));
    expect(response.calls.map((call) => call.name)).toEqual(name === undefined ? [] : [name]);
  });

  it('writes text with blank lines, and does not continue an interrupted answer', async () => {
    const { response } = await answer([user('count to 3'), user('write a.txt: one\n\ntwo')]);
    expect(JSON.parse(response.calls[0]?.arguments ?? '')).toEqual({ path: 'a.txt', content: 'one\n\ntwo' });
    const { text } = await answer([user('count to 3'), user('What is love?')]);
    expect(text).toContain('not a real model');
  });

  it('fails on request, without inviting a retry', async () => {
    await expect(answer([user('error')])).rejects.toMatchObject({
      details: { code: 'provider.api_error', statusCode: 400, retry: false },
    });
  });

  it('can be stopped in a long answer', async () => {
    const stop = new AbortController();
    const running = client.streamModel(ask([user('count to 1000')], { signal: stop.signal }), (part) => {
      if (part.type === 'text' && part.text.includes('3')) stop.abort(new Error('enough'));
    });
    await expect(running).rejects.toThrow('enough');
  });

  it('accepts only its key, and only its path', async () => {
    const post = (path: string, key: string) =>
      fetch(demo.url + path, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: '{}' });
    expect((await post('/chat/completions', 'wrong')).status).toBe(401);
    expect((await post('/models', demo.key)).status).toBe(404);
    expect((await post('/chat/completions', demo.key)).status).toBe(400);
    expect(new URL(demo.url).hostname).toBe('127.0.0.1');
  });

  it('describes itself as a config layer', () => {
    expect(demo.configLayer).toMatchObject({
      providers: { demo: { type: 'native', base_url: demo.url, api_key: demo.key } },
      models: { 'demo/demo-1': { provider: 'demo', model: 'demo-1' } },
      default_model: 'demo/demo-1',
    });
  });
});
