/** An editor and the built server: every method of the protocol, and every bad parameter. */
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { choose } from '#support/acp-editor.ts';
import { startAcp, type AcpProcess } from '#support/acp-process.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { until } from '#support/patience.ts';
import { spawnServer } from '#support/spawned-server.ts';

const CONFIG = `
[loop_control]
max_steps_per_turn = 8

[[hooks]]
event = "UserPromptSubmit"
matcher = "secret"
command = "echo not here >&2; exit 2"
`;
const base = useBuiltServer(({ home }) => appendFile(join(home, 'config.toml'), CONFIG), { per: 'file' });
let editor: AcpProcess;

beforeAll(async () => {
  editor = await startAcp(base.server);
});
beforeEach(() => {
  editor.permit(() => new Promise(() => {}));
  editor.elicit(() => new Promise(() => {}));
});
afterAll(async () => {
  expect(await editor.close()).toBe(0);
  for (const line of editor.output().split('\n').slice(0, -1)) {
    expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  }
});

const open = () => editor.open(base.base.project);
/** The error of a request: its code and text. */
async function refusal(method: string, params: unknown): Promise<string> {
  const error: unknown = await editor.agent.request(method, params).then(
    () => 'accepted',
    (reason: unknown) => reason,
  );
  const { data } = z.object({ code: z.number(), message: z.string(), data: z.unknown() }).safeParse(error);
  return data ? `${data.code} ${data.message} ${JSON.stringify(data.data)}` : String(error);
}
/** Texts of the last message of the last request to the model. */
const lastInput = () => JSON.stringify(base.base.model.requests.at(-1)?.body);

describe('initialize', () => {
  it('announces what the bridge can do, and no more', async () => {
    expect(
      await editor.agent.request('initialize', {
        protocolVersion: 1,
        clientCapabilities: { elicitation: { form: {} } },
      }),
    ).toMatchInlineSnapshot(`
      {
        "agentCapabilities": {
          "loadSession": true,
          "mcpCapabilities": {
            "http": true,
            "sse": true,
          },
          "promptCapabilities": {
            "audio": false,
            "embeddedContext": true,
            "image": true,
          },
          "sessionCapabilities": {
            "additionalDirectories": {},
            "close": {},
            "list": {},
            "resume": {},
          },
        },
        "agentInfo": {
          "name": "service-code",
          "title": "Service Code",
          "version": "0.1.0",
        },
        "authMethods": [],
        "protocolVersion": 1,
      }
    `);
  });
});

describe('bad input', () => {
  it.each([
    ['session/new', { cwd: 'relative', mcpServers: [] }, '-32602', 'cwd'],
    ['session/new', { mcpServers: [] }, '-32602', 'cwd'],
    ['session/new', { cwd: '/no/such/folder', mcpServers: [] }, '-32602', 'cwd'],
    ['session/new', { cwd: '/', mcpServers: [], additionalDirectories: ['a'] }, '-32602', 'additionalDirectories.0'],
    ['session/load', { cwd: '/', mcpServers: [], sessionId: 'session_none' }, '-32602', 'sessionId'],
    ['session/load', { cwd: 'x', mcpServers: [], sessionId: 'session_none' }, '-32602', 'cwd'],
    ['session/resume', { cwd: '/', sessionId: 'session_none' }, '-32602', 'sessionId'],
    ['session/list', { cwd: 'x' }, '-32602', 'cwd'],
    ['session/prompt', { sessionId: 'session_none', prompt: [] }, '-32602', 'sessionId'],
    ['session/close', { sessionId: 'session_none' }, '-32602', 'sessionId'],
    ['session/set_mode', { sessionId: 'session_none', modeId: 'manual' }, '-32602', 'sessionId'],
    ['session/delete', { sessionId: 'session_none' }, '-32601', 'session/delete'],
    ['no/such_method', {}, '-32601', 'no/such_method'],
  ])('%s %j: %s naming %s', async (method, params, code, member) => {
    const refused = await refusal(method, params);
    expect(refused).toContain(code);
    expect(refused).toContain(member);
  });

  it('leaves an open session open when it cannot be loaded or resumed with other directories', async () => {
    const cwd = base.base.project;
    const sessionId = await open();
    const answer = base.base.model.enqueue({ text: 'One.', hold: true });
    const reply = editor.prompt(sessionId, 'Go');
    const earlier = await base.newSession();
    for (const id of [sessionId, earlier]) {
      const params = { sessionId: id, cwd, mcpServers: [], additionalDirectories: ['/no/such/folder'] };
      for (const method of ['session/load', 'session/resume']) {
        expect(await refusal(method, params)).toContain('-32602 additionalDirectories.0');
      }
    }
    expect(await refusal('session/prompt', { sessionId: earlier, prompt: [{ type: 'text', text: 'x' }] })).toContain(
      '-32602 sessionId',
    );
    answer.release();
    expect(await reply).toBe('end_turn');
  });

  it('names the member of an open session', async () => {
    const sessionId = await open();
    const audio = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' };
    expect(await refusal('session/prompt', { sessionId, prompt: [audio] })).toBe(
      '-32602 prompt.0.type: audio is not supported {"prompt.0.type":"audio is not supported"}',
    );
    expect(await refusal('session/prompt', { sessionId, prompt: [] })).toContain('-32602 prompt: ');
    expect(await refusal('session/prompt', { sessionId, prompt: [{ type: 'text' }] })).toContain('-32602');
    expect(await refusal('session/set_mode', { sessionId, modeId: 'none' })).toContain('-32602 modeId: ');
    const option = { sessionId, configId: 'model', value: 'none' };
    expect(await refusal('session/set_config_option', option)).toContain('-32602 value: ');
    expect(await refusal('session/set_config_option', { ...option, configId: 'x' })).toContain('-32602 configId: ');
    const server = { name: 'a', command: 'a', args: [], env: [] };
    const twice = { cwd: base.base.project, mcpServers: [server, server] };
    expect(await refusal('session/new', twice)).toContain('-32602 mcpServers.1.name: ');
  });

  it('answers malformed lines with errors, and continues', async () => {
    const raw = await startAcp({ ...base.server, raw: true });
    raw.process.stdin?.write('{"jsonrpc":\n[]\n"text"\n');
    raw.process.stdin?.write('{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":1}}\n');
    await until(() => raw.output().split('\n').length > 4);
    const replies = raw
      .output()
      .split('\n')
      .slice(0, 4)
      .map((line) => JSON.parse(line));
    expect(replies).toMatchObject([
      { id: null, error: { code: -32700 } },
      { id: null, error: { code: -32600 } },
      { id: null, error: { code: -32600 } },
      { id: 7, result: { protocolVersion: 1 } },
    ]);
    expect(await raw.close()).toBe(0);
  });

  it('answers requests before the end of its input', async () => {
    const raw = await startAcp({ ...base.server, raw: true });
    const line = (id: number, method: string, params: object) =>
      `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
    raw.process.stdin?.write(line(1, 'initialize', { protocolVersion: 1 }));
    await until(() => raw.output().includes('"id":1,'));
    raw.process.stdin?.end(line(2, 'session/new', { cwd: base.base.project, mcpServers: [] }));
    expect(await raw.exited).toBe(0);
    expect(raw.output()).toContain('"id":2,"result":{"sessionId":"session_');
  });

  it('refuses a session without a usable model', async () => {
    const bare = await spawnServer();
    const other = await startAcp(bare);
    const params = { cwd: base.base.project, mcpServers: [] };
    await expect(other.agent.request('session/new', params)).rejects.toMatchObject({
      code: -32000,
      message: expect.stringMatching(/config\.toml/),
    });
    await expect(other.agent.request('session/new', params)).rejects.toThrow(`${bare.url}/`);
    await other.close();
    await bare.close();
  });
});

describe('prompts', () => {
  it('sends text and thoughts, and not the prompt', async () => {
    const id = await open();
    base.base.model.enqueue({ thinking: 'Hm.', text: ['Hello ', '😀', ' there.'] });
    expect(await editor.prompt(id, 'Hi')).toBe('end_turn');
    expect(editor.text('agent_message_chunk', id)).toBe('Hello 😀 there.');
    expect(editor.text('agent_thought_chunk', id)).toBe('Hm.');
    expect(editor.text('user_message_chunk', id)).toBe('');
    expect(editor.updatesOf('usage_update', id)).not.toEqual([]);
    expect(editor.updatesOf('session_info_update', id)).toMatchObject([{ title: 'Hi' }]);
  });

  it('sends links, embedded text and images to the model', async () => {
    const id = await open();
    const { project } = base.base;
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==';
    base.base.model.enqueue({ text: 'Seen.' });
    const blocks: ContentBlock[] = [
      { type: 'text', text: 'Look at ' },
      { type: 'resource_link', name: 'a b.txt', uri: `${pathToFileURL(join(project, 'src', 'a b.txt')).href}#L3` },
      { type: 'resource_link', name: 'page', uri: 'https://example.com/page' },
      { type: 'resource', resource: { uri: 'file:///x.md', text: 'some ``` fence' } },
      { type: 'image', mimeType: 'image/png', data: png },
    ];
    expect(await editor.prompt(id, blocks)).toBe('end_turn');
    const input = lastInput();
    expect(input).toContain('@src/a b.txt (L3)');
    expect(input).toContain('[page](https://example.com/page)');
    expect(input).toContain('````file:///x.md\\nsome ``` fence\\n````');
    expect(input).toContain('data:image/png;base64,');
    expect(editor.text('user_message_chunk', id)).toBe('');
  });

  it('queues a prompt while the turn of another client runs, whose conversation it sends', async () => {
    const id = await open();
    const first = base.base.model.enqueue({ text: 'For the page.', hold: true });
    await base.prompt(id, 'From the page');
    await until(() => editor.text('agent_message_chunk', id) !== '');
    const reply = editor.prompt(id, 'From the editor');
    await until(async () =>
      JSON.stringify(await base.ok('GET', `/sessions/${id}/prompts`)).includes('From the editor'),
    );
    base.base.model.enqueue({ text: 'For the editor.' });
    first.release();
    expect(await reply).toBe('end_turn');
    expect(editor.text('agent_message_chunk', id)).toBe('For the page.For the editor.');
    expect(editor.text('user_message_chunk', id)).toBe('From the page');
  });

  it('ends with the prompt when another client steers it into a running turn', async () => {
    const id = await open();
    const first = base.base.model.enqueue({ text: 'Working.', hold: true });
    await base.prompt(id, 'Start');
    await until(() => editor.text('agent_message_chunk', id) !== '');
    const reply = editor.prompt(id, 'And this');
    const queued = z.object({ queued: z.array(z.object({ prompt_id: z.string() })) });
    const waiting = await until(async () => queued.parse(await base.ok('GET', `/sessions/${id}/prompts`)).queued.at(0));
    await base.ok('POST', `/sessions/${id}/prompts/${waiting.prompt_id}:steer`);
    base.base.model.enqueue({ text: ' Both done.' });
    first.release();
    expect(await reply).toBe('end_turn');
    expect(editor.text('agent_message_chunk', id)).toBe('Working. Both done.');
    expect(editor.text('user_message_chunk', id)).toBe('Start');
  });
});

describe('a fast model', () => {
  it('has its chunks joined', async () => {
    const id = await open();
    const words = Array.from({ length: 5_000 }, (_, n) => `${n} `);
    base.base.model.enqueue({ text: words });
    expect(await editor.prompt(id, 'Go')).toBe('end_turn');
    const chunks = editor.updatesOf('agent_message_chunk', id);
    expect(editor.text('agent_message_chunk', id)).toBe(words.join(''));
    expect(chunks.length).toBeLessThan(words.length / 2);
  });
});

describe('ends of a prompt', () => {
  it('reports a failure with its message', async () => {
    const id = await open();
    base.base.model.enqueue({ status: 400, error: 'no such thing' });
    await expect(editor.prompt(id, 'Fail')).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/no such thing/),
    });
    base.base.model.enqueue({ text: 'Now it works.' });
    expect(await editor.prompt(id, 'Again')).toBe('end_turn');
  });

  it('reports a filtered answer as a refusal', async () => {
    const id = await open();
    base.base.model.enqueue({ text: 'No', finish: 'content_filter' });
    expect(await editor.prompt(id, 'Filter')).toBe('refusal');
  });

  it('reports a full context as max_tokens', async () => {
    const id = await open();
    const message = 'maximum context length exceeded';
    base.base.model.answerBy(({ body }) =>
      JSON.stringify(body).includes('Write a summary')
        ? { text: 'Short.' }
        : { status: 400, error: { error: { message, code: 'context_length_exceeded' } } },
    );
    expect(await editor.prompt(id, 'Too long')).toBe('max_tokens');
    base.base.model.answerBy(() => undefined);
  });

  it('reports the limit of steps as max_turn_requests', async () => {
    const id = await open();
    base.base.model.answerBy(({ body }) => ({
      calls: [{ name: 'TodoList', args: { todos: [] }, id: `call_${JSON.stringify(body).length}` }],
    }));
    expect(await editor.prompt(id, 'Go on for ever')).toBe('max_turn_requests');
    base.base.model.answerBy(() => undefined);
  });

  it('reports a prompt that a hook has blocked as a refusal, with the reason', async () => {
    const id = await open();
    expect(await editor.prompt(id, 'Tell the secret')).toBe('refusal');
    expect(editor.text('agent_message_chunk', id)).toContain('not here');
  });

  it('cancels a running and a queued prompt, each with one reply', async () => {
    const id = await open();
    base.base.model.enqueue({ text: 'Working', hold: true });
    const running = editor.prompt(id, 'One');
    await until(() => editor.text('agent_message_chunk', id) === 'Working');
    const queued = editor.prompt(id, 'Two');
    await until(async () => JSON.stringify(await base.ok('GET', `/sessions/${id}/prompts`)).includes('Two'));
    await editor.agent.notify('session/cancel', { sessionId: id });
    await editor.agent.notify('session/cancel', { sessionId: id });
    expect(await Promise.all([running, queued])).toEqual(['cancelled', 'cancelled']);
    expect(await base.ok('GET', `/sessions/${id}/prompts`)).toEqual({ active: null, queued: [] });
  });

  it('cancels a prompt that waits for permission, and cancels the request', async () => {
    const id = await open();
    const before = editor.cancelled;
    base.base.model.enqueue({ calls: [{ name: 'Bash', args: { command: 'echo no' }, id: 'call_waits' }] });
    const reply = editor.prompt(id, 'Run');
    await until(() => editor.permissions.some(({ sessionId }) => sessionId === id));
    await editor.agent.notify('session/cancel', { sessionId: id });
    expect(await reply).toBe('cancelled');
    await until(() => editor.cancelled > before);
    expect(editor.call('call_waits').status).toBe('failed');
  });
});

describe('permissions and questions', () => {
  const command = (id: string) => ({ calls: [{ name: 'Bash', args: { command: 'echo one; echo two' }, id }] });

  it('runs a command that was allowed once, and shows its output', async () => {
    const id = await open();
    editor.permit(choose('allow_once'));
    base.base.model.enqueue(command('call_once'));
    base.base.model.enqueue({ text: 'Done.' });
    expect(await editor.prompt(id, 'Run it')).toBe('end_turn');
    const text = '```\none\ntwo\n```';
    expect(editor.call('call_once')).toMatchObject({
      kind: 'execute',
      title: 'echo one; echo two',
      status: 'completed',
      content: [{ type: 'content', content: { type: 'text', text } }],
    });
    const [request] = editor.permissions.filter(({ sessionId }) => sessionId === id);
    expect(request?.toolCall.content).toEqual([
      { type: 'content', content: { type: 'text', text: '```sh\necho one; echo two\n```' } },
    ]);
  });

  it('is requested once for the session', async () => {
    const id = await open();
    editor.permit(choose('allow_always'));
    base.base.model.enqueue(command('call_s1'));
    base.base.model.enqueue(command('call_s2'));
    base.base.model.enqueue({ text: 'Done.' });
    expect(await editor.prompt(id, 'Run it twice')).toBe('end_turn');
    expect(editor.permissions.filter(({ sessionId }) => sessionId === id)).toHaveLength(1);
    expect(editor.call('call_s2').status).toBe('completed');
  });

  it('does not run a rejected command', async () => {
    const id = await open();
    editor.permit(choose('reject_once'));
    base.base.model.enqueue(command('call_no'));
    base.base.model.enqueue({ text: 'A pity.' });
    expect(await editor.prompt(id, 'Run it')).toBe('end_turn');
    expect(editor.call('call_no').status).toBe('failed');
  });

  it('shows hidden characters of a command', async () => {
    const id = await open();
    editor.permit(choose('reject_once'));
    base.base.model.enqueue({ calls: [{ name: 'Bash', args: { command: 'echo \u202Egnp.sh\nrm x' } }] });
    base.base.model.enqueue({ text: 'Ok.' });
    expect(await editor.prompt(id, 'Run it')).toBe('end_turn');
    const [request] = editor.permissions.filter(({ sessionId }) => sessionId === id);
    expect(JSON.stringify(request)).not.toContain('\u202E');
    expect(JSON.stringify(request?.toolCall.content)).toContain('rm x');
  });

  it('does not run a command when the editor fails to request permission', async () => {
    const id = await open();
    editor.permit(() => Promise.reject(new Error('no dialog')));
    base.base.model.enqueue(command('call_failed'));
    base.base.model.enqueue({ text: 'A pity.' });
    expect(await editor.prompt(id, 'Run it')).toBe('end_turn');
    expect(editor.call('call_failed').status).toBe('failed');
    expect(lastInput()).toContain('could not display');
  });

  it('does not run a command for an option that was not offered', async () => {
    const id = await open();
    editor.permit(() => ({ outcome: { outcome: 'selected', optionId: 'allow_everything' } }));
    base.base.model.enqueue(command('call_unknown'));
    base.base.model.enqueue({ text: 'A pity.' });
    expect(await editor.prompt(id, 'Run it')).toBe('end_turn');
    expect(editor.call('call_unknown').status).toBe('failed');
  });

  it('shows a subagent as one call with its last line, and requests what it needs', async () => {
    const id = await open();
    editor.permit(choose('allow_once'));
    const args = { description: 'count', prompt: 'Count the words', subagent_type: 'coder' };
    base.base.model.enqueue({ calls: [{ name: 'Agent', args, id: 'call_agent' }] });
    base.base.model.enqueue({
      text: 'I start.\nNow I count.',
      calls: [{ name: 'Bash', args: { command: 'echo 2' }, id: 'call_child' }],
    });
    const child = base.base.model.enqueue({ text: `${'A long report. '.repeat(40)}\nexactly two words.`, hold: true });
    base.base.model.enqueue({ text: 'Two.' });
    const reply = editor.prompt(id, 'Count');
    await until(() => JSON.stringify(editor.call('call_agent').content ?? '').includes('exactly two words.'));
    child.release();
    expect(await reply).toBe('end_turn');
    const states = editor
      .updatesOf('tool_call_update', id)
      .filter(({ toolCallId, content }) => toolCallId === 'call_agent' && content)
      .map(({ content }) => JSON.stringify(content));
    expect(states.some((state) => state.includes('"Now I count."'))).toBe(true);
    expect(states.at(-1)).toContain('"exactly two words."');
    expect(editor.text('agent_message_chunk', id)).toBe('Two.');
    const [request] = editor.permissions.filter(({ sessionId }) => sessionId === id);
    expect(request?.toolCall.toolCallId).toBe('agent-1:call_child');
    await until(() => editor.call('agent-1:call_child').status === 'completed');
  });

  it('cancels the request when another client answers', async () => {
    const id = await open();
    const before = editor.cancelled;
    base.base.model.enqueue(command('call_page'));
    base.base.model.enqueue({ text: 'Done.' });
    const reply = editor.prompt(id, 'Run it');
    await until(() => editor.permissions.some(({ sessionId }) => sessionId === id));
    const pending = z.object({ items: z.array(z.object({ approval_id: z.string() })) });
    const { items } = pending.parse(await base.ok('GET', `/sessions/${id}/approvals?status=pending`));
    await base.ok('POST', `/sessions/${id}/approvals/${items[0]?.approval_id}`, { decision: 'approved' });
    expect(await reply).toBe('end_turn');
    await until(() => editor.cancelled === before + 1);
    expect(editor.call('call_page').status).toBe('completed');
  });

  const question = {
    questions: [
      { question: 'Which one?', header: 'Choice', options: [{ label: 'Red' }, { label: 'Blue', description: 'cold' }] },
    ],
  };

  it('asks a question as a form', async () => {
    const id = await open();
    editor.elicit(async () => ({ action: 'accept', content: { q_0: 'opt_0_1' } }));
    base.base.model.enqueue({ calls: [{ name: 'AskUserQuestion', args: question }] });
    base.base.model.enqueue({ text: 'Blue it is.' });
    expect(await editor.prompt(id, 'Ask me')).toBe('end_turn');
    expect(lastInput()).toContain('Blue');
    expect(editor.questions.at(-1)).toMatchObject({ message: 'Which one?', sessionId: id });
  });

  it('dismisses a question that the person declines', async () => {
    const id = await open();
    editor.elicit(async () => ({ action: 'decline' }));
    base.base.model.enqueue({ calls: [{ name: 'AskUserQuestion', args: question }] });
    base.base.model.enqueue({ text: 'As you like.' });
    expect(await editor.prompt(id, 'Ask me')).toBe('end_turn');
    expect(lastInput()).toContain('dismissed');
  });

  it('dismisses a question where the editor has no forms, and says why', async () => {
    const plain = await startAcp({ ...base.server, capabilities: {} });
    const id = await plain.open(base.base.project);
    base.base.model.enqueue({ calls: [{ name: 'AskUserQuestion', args: question }] });
    base.base.model.enqueue({ text: 'As you like.' });
    expect(await plain.prompt(id, 'Ask me')).toBe('end_turn');
    expect(plain.questions).toEqual([]);
    expect(plain.text('agent_message_chunk')).toMatch(/cannot display questions[^]*Which one\?[^]*As you like/);
    await plain.close();
  });

  it('offers the approaches of a plan by their labels', async () => {
    const id = await open();
    await editor.agent.request('session/set_mode', { sessionId: id, modeId: 'plan' });
    const plans = { options: [{ label: 'Fast' }, { label: 'Careful' }] };
    editor.permit(({ options }) => ({
      outcome: { outcome: 'selected', optionId: options.find(({ name }) => name === 'Careful')?.optionId ?? '' },
    }));
    base.base.model.answerBy(({ body }) => {
      const path = /plans\/[\w-]+\.md/.exec(JSON.stringify(body))?.[0];
      const full = new RegExp(`[^\\s"\`\\\\]*${path ?? 'none'}`).exec(JSON.stringify(body))?.[0];
      const seen = JSON.stringify(body);
      if (!seen.includes('Plan please')) return undefined;
      if (seen.includes('Selected approach') || seen.includes('Careful')) {
        return seen.includes('call_exit') ? { text: 'Going.' } : undefined;
      }
      if (seen.includes('call_write')) return { calls: [{ name: 'ExitPlanMode', args: plans, id: 'call_exit' }] };
      return { calls: [{ name: 'Write', args: { path: full, content: '# The plan\n' }, id: 'call_write' }] };
    });
    expect(await editor.prompt(id, 'Plan please')).toBe('end_turn');
    base.base.model.answerBy(() => undefined);
    const [request] = editor.permissions.filter(({ sessionId }) => sessionId === id);
    expect(request?.options.map(({ name }) => name)).toEqual([
      'Fast',
      'Careful',
      'Revise',
      'Reject',
      'Reject and Exit',
    ]);
    expect(editor.updatesOf('current_mode_update', id).at(-1)?.currentModeId).toBe('manual');
  });
});

describe('sessions', () => {
  const load = (sessionId: string) =>
    editor.agent.request('session/load', { sessionId, cwd: base.base.project, mcpServers: [] });

  it('replays a conversation in order before it answers, and nothing of a resumed one', async () => {
    const id = await open();
    editor.permit(choose('allow_once'));
    base.base.model.enqueue({
      text: 'First. ',
      calls: [{ name: 'Bash', args: { command: 'echo x' }, id: 'call_replay' }],
    });
    base.base.model.enqueue({ text: 'Second.' });
    await editor.prompt(id, 'Start');
    base.base.model.enqueue({ text: 'Third.' });
    await editor.prompt(id, 'More');

    const other = await startAcp(base.server);
    await other.agent.request('session/load', { sessionId: id, cwd: base.base.project, mcpServers: [] });
    const order = other.updates.map(({ update }) =>
      'content' in update && update.content && 'type' in update.content && update.content.type === 'text'
        ? update.content.text
        : update.sessionUpdate,
    );
    expect(order.filter((one) => one !== 'usage_update')).toEqual([
      'Start',
      'First. ',
      'tool_call',
      'Second.',
      'More',
      'Third.',
    ]);
    expect(other.call('call_replay').status).toBe('completed');

    const resumed = await startAcp(base.server);
    const reply = await resumed.agent.request('session/resume', { sessionId: id, cwd: base.base.project });
    expect(reply.modes?.currentModeId).toBe('manual');
    base.base.model.enqueue({ text: 'Fourth.' });
    expect(await resumed.prompt(id, 'Again')).toBe('end_turn');
    expect(resumed.text('agent_message_chunk')).toBe('Fourth.');
    expect(resumed.text('user_message_chunk')).toBe('');
    await until(() => other.text('agent_message_chunk').endsWith('Fourth.'));
    expect(other.text('user_message_chunk')).toBe('StartMoreAgain');
    await other.close();
    await resumed.close();
  });

  it('replays more turns than a page has', async () => {
    const id = await base.newSession();
    for (let n = 0; n < 35; n += 1) {
      base.base.model.enqueue({ text: `Answer ${n}.` });
      await base.prompt(id, `Prompt ${n}.`);
    }
    await until(
      async () => JSON.stringify(await base.ok('GET', `/sessions/${id}/prompts`)) === '{"active":null,"queued":[]}',
    );
    await load(id);
    const numbers = Array.from({ length: 35 }, (_, n) => n);
    expect(editor.text('user_message_chunk', id)).toBe(numbers.map((n) => `Prompt ${n}.`).join(''));
    expect(editor.text('agent_message_chunk', id)).toBe(numbers.map((n) => `Answer ${n}.`).join(''));
  });

  it('loads a session whose turn runs, and follows it', async () => {
    const id = await base.newSession();
    const answer = base.base.model.enqueue({ text: ['Half ', 'done'], hold: true });
    await base.prompt(id, 'Go');
    await answer.sent;
    await load(id);
    expect(editor.text('user_message_chunk', id)).toBe('Go');
    answer.release();
    await until(() => editor.text('agent_message_chunk', id) === 'Half done');
  });

  it('lists sessions by directory in pages of 50', async () => {
    const cwd = join(base.base.root, 'listed');
    await mkdir(cwd);
    const ids: string[] = [];
    for (let n = 0; n < 51; n += 1) {
      const made = await base.ok('POST', '/sessions', { metadata: { cwd }, title: `Number ${n}` });
      ids.push(z.object({ id: z.string() }).parse(made).id);
    }
    const first = await editor.agent.request('session/list', { cwd });
    expect(first.sessions).toHaveLength(50);
    expect(first.sessions.every((one) => one.cwd === cwd && one.title?.startsWith('Number'))).toBe(true);
    const second = await editor.agent.request('session/list', { cwd, cursor: first.nextCursor });
    expect(second.nextCursor ?? null).toBeNull();
    expect([...first.sessions, ...second.sessions].map((one) => one.sessionId).toSorted()).toEqual(ids.toSorted());
    expect((await editor.agent.request('session/list', { cwd: '/no/such/folder' })).sessions).toEqual([]);
    expect((await editor.agent.request('session/list', {})).sessions).toHaveLength(50);
  });

  it('closes a session: what runs is cancelled, and it is unknown from then on', async () => {
    const id = await open();
    base.base.model.enqueue({ text: 'Working', hold: true });
    const reply = editor.prompt(id, 'One');
    await until(() => editor.text('agent_message_chunk', id) === 'Working');
    await editor.agent.request('session/close', { sessionId: id });
    expect(await reply).toBe('cancelled');
    expect(await refusal('session/prompt', { sessionId: id, prompt: [{ type: 'text', text: 'x' }] })).toContain(
      '-32602 sessionId',
    );
    await until(async () => !JSON.stringify(await base.ok('GET', `/sessions/${id}`)).includes('"busy":true'));
  });
});

describe('modes and options', () => {
  it('changes them, and sends the changes of other clients', async () => {
    const {
      sessionId: id,
      modes,
      configOptions,
    } = await editor.agent.request('session/new', {
      cwd: base.base.project,
      mcpServers: [],
    });
    expect(modes?.availableModes.map((mode) => mode.id)).toEqual(['manual', 'auto', 'yolo', 'plan']);
    expect(configOptions?.map(({ category }) => category)).toEqual(['mode', 'model', 'thought_level']);
    const status = async () => base.ok('GET', `/sessions/${id}/status`);

    await editor.agent.request('session/set_mode', { sessionId: id, modeId: 'plan' });
    expect(await status()).toMatchObject({ permission: 'manual', plan_mode: true });
    const set = (configId: string, value: string) =>
      editor.agent.request('session/set_config_option', { sessionId: id, configId, value });
    const changed = await set('mode', 'yolo');
    expect(changed.configOptions[0]).toMatchObject({ id: 'mode', currentValue: 'yolo' });
    expect(await status()).toMatchObject({ permission: 'yolo', plan_mode: false });
    await set('thought_level', 'off');
    expect(await status()).toMatchObject({ thinking_level: 'off' });

    await base.ok('POST', `/sessions/${id}/profile`, { agent_config: { permission_mode: 'auto' }, title: 'Named' });
    await until(() => editor.updatesOf('current_mode_update', id).at(-1)?.currentModeId === 'auto');
    await until(() =>
      editor
        .updatesOf('config_option_update', id)
        .at(-1)
        ?.configOptions.some((one) => one.currentValue === 'auto'),
    );
    await until(() => editor.updatesOf('session_info_update', id).at(-1)?.title === 'Named');
  });
});

describe('commands', () => {
  it('offers its own, skills, and compacts, undoes and plans', async () => {
    const skill = join(base.base.project, '.service-code/skills/greet');
    await mkdir(skill, { recursive: true });
    await writeFile(join(skill, 'SKILL.md'), '---\nname: greet\ndescription: Greets\n---\nSay hello to $ARGUMENTS.\n');
    const id = await open();
    const names = await until(() =>
      editor
        .updatesOf('available_commands_update', id)
        .at(-1)
        ?.availableCommands.map(({ name }) => name),
    );
    expect(names.slice(0, 3)).toEqual(['compact', 'undo', 'plan']);

    base.base.model.enqueue({ text: 'Answer.' });
    await editor.prompt(id, 'Prompt');
    base.base.model.enqueue({ text: 'The summary.' });
    expect(await editor.prompt(id, '/compact keep names')).toBe('end_turn');
    expect(editor.text('agent_message_chunk', id)).toContain('The conversation was compacted.');
    base.base.model.enqueue({ text: 'Second answer.' });
    await editor.prompt(id, 'Second');
    expect(await editor.prompt(id, '/undo')).toBe('end_turn');
    expect(await editor.prompt(id, '/plan')).toBe('end_turn');
    expect(await base.ok('GET', `/sessions/${id}/status`)).toMatchObject({ plan_mode: true });
    expect(await editor.prompt(id, '/plan off')).toBe('end_turn');
    expect(await base.ok('GET', `/sessions/${id}/status`)).toMatchObject({ plan_mode: false });
  });

  it('ends a compaction that is cancelled', async () => {
    const id = await open();
    base.base.model.enqueue({ text: 'Answer.' });
    await editor.prompt(id, 'Prompt');
    const summary = base.base.model.enqueue({ text: 'The summary.', hold: true });
    const reply = editor.prompt(id, '/compact');
    await summary.sent;
    await editor.agent.notify('session/cancel', { sessionId: id });
    expect(await reply).toBe('cancelled');
    summary.release();
    await until(async () => JSON.stringify(await base.ok('GET', `/sessions/${id}`)).includes('"busy":false'));
  });

  it('activates a skill, and ends with its turn', async () => {
    const id = await open();
    await until(() => editor.updatesOf('available_commands_update', id).at(0));
    base.base.model.enqueue({ text: 'Configured.' });
    expect(await editor.prompt(id, '/update-config show it')).toBe('end_turn');
    expect(lastInput()).toContain('show it');
    expect(editor.text('agent_message_chunk', id)).toBe('Configured.');
    expect(editor.text('user_message_chunk', id)).toBe('');
  });
});
