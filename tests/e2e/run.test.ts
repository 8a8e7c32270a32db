/** `service-code run` on the built output: each ending with its output and exit code. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { useBuiltServer } from '#support/built-server.ts';
import { COMMAND, startCommand, type CommandOptions } from '#support/run-command.ts';
import { spawnServer } from '#support/spawned-server.ts';

const built = useBuiltServer(() => {}, { per: 'file' });

function start(args: string[], options: Partial<CommandOptions> = {}) {
  const running = startCommand(['run', ...args], { home: built.base.home, cwd: built.base.project, ...options });
  onTestFinished(() => void running.child.kill('SIGKILL'));
  return running;
}

async function run(args: string[], options: Partial<CommandOptions> = {}) {
  const running = start(args, options);
  const code = await running.exited;
  return { ...running, code, out: running.stdout(), err: running.stderr() };
}

const enqueue = (script: Parameters<typeof built.base.model.enqueue>[0]) => built.base.model.enqueue(script);
const lastRequest = () => JSON.stringify(built.base.model.requests.at(-1)?.body);
const sessionsSchema = z.object({ items: z.array(z.object({ id: z.string(), busy: z.boolean() })) });
const sessions = async () => sessionsSchema.parse(await built.ok('GET', '/sessions')).items;
const newest = async () => (await sessions())[0];

/** A call that needs an approval in the mode `manual`. */
const removal = { name: 'Bash', args: { command: 'rm -rf build' } };

describe('with a running server', () => {
  it('prints the final answer, and exits with 0', async () => {
    enqueue({ text: 'Forty-two.' });
    expect(await run(['What is the answer?'])).toMatchObject({ code: 0, out: 'Forty-two.\n' });
    expect(lastRequest()).toContain('What is the answer?');
    expect(await newest()).toMatchObject({ busy: false });
  });

  it('takes the prompt from a pipe, and adds the pipe to an argument in a fence that it does not contain', async () => {
    enqueue({ text: 'Piped.' });
    expect(await run(['-'], { stdin: 'A piped prompt' })).toMatchObject({ code: 0, out: 'Piped.\n' });
    expect(lastRequest()).toContain('A piped prompt');
    enqueue({ text: 'Both.' });
    expect(await run(['Explain'], { stdin: 'x = ```1```\n' })).toMatchObject({ code: 0, out: 'Both.\n' });
    expect(lastRequest()).toContain(JSON.stringify('Explain\n\n````\nx = ```1```\n````').slice(1, -1));
  });

  it('runs with an argument when its stdin is a pipe without a writer', async () => {
    enqueue({ text: 'Alone.' });
    const { code, out, err } = await run(['Go'], { stdin: null });
    expect({ code, out }).toEqual({ code: 0, out: 'Alone.\n' });
    expect(err).toContain('nothing was piped');
  });

  it('continues a session, and the newest one of the folder', async () => {
    enqueue({ text: 'One.' });
    await run(['First']);
    const { id } = (await newest()) ?? { id: '' };
    enqueue({ text: 'Two.' });
    expect(await run(['Second', '--session', id])).toMatchObject({ code: 0 });
    enqueue({ text: 'Three.' });
    expect(await run(['Third', '--continue'])).toMatchObject({ code: 0 });
    for (const text of ['First', 'Second', 'Third']) expect(lastRequest()).toContain(text);
  });

  it('continues the newest session of a folder by a path with a link, and without it', async () => {
    const link = join(built.base.root, 'link');
    await symlink(built.base.project, link);
    enqueue({ text: 'One.' });
    await run(['By link', '--cwd', link]);
    enqueue({ text: 'Two.' });
    expect(await run(['Again', '--continue', '--cwd', link])).toMatchObject({ code: 0 });
    expect(lastRequest()).toContain('By link');
    enqueue({ text: 'Three.' });
    await run(['By its path']);
    enqueue({ text: 'Four.' });
    expect(await run(['More', '--continue', '--cwd', link])).toMatchObject({ code: 0 });
    expect(lastRequest()).toContain('By its path');
  });

  it('attaches files', async () => {
    await writeFile(join(built.base.project, 'notes.txt'), 'a note');
    enqueue({ text: 'Read.' });
    expect(await run(['Look', '--file', 'notes.txt'])).toMatchObject({ code: 0 });
    expect(lastRequest()).toContain('notes.txt');
  });

  it('prints the session, the events and the result as JSON lines', async () => {
    enqueue({ text: 'Done.', usage: { input: 10, output: 3 } });
    const { code, lines } = await run(['Go', '--json']);
    const printed = lines();
    expect(code).toBe(0);
    expect(printed[0]).toMatchObject({ type: 'session', session_id: (await newest())?.id });
    const types = printed.map(({ type }) => type);
    for (const type of ['prompt.submitted', 'turn.started', 'assistant.delta', 'prompt.completed']) {
      expect(types).toContain(type);
    }
    expect(printed.at(-1)).toMatchObject({
      type: 'result',
      session_id: printed[0]?.['session_id'],
      reason: 'completed',
      text: 'Done.',
      usage: { inputOther: 10, output: 3 },
      denied: [],
      background_tasks: 0,
      duration_ms: expect.any(Number),
    });
  });
});

describe('approvals', () => {
  it('are rejected immediately and counted; the exit code is 3, or 0 with --allow-denied', async () => {
    for (const [more, code] of [
      [[], 3],
      [['--allow-denied'], 0],
    ] as const) {
      enqueue({ calls: [removal] });
      enqueue({ text: 'It was not allowed.' });
      const done = await run(['Clean up', '--json', ...more]);
      expect(done.code).toBe(code);
      expect(done.lines().at(-1)).toMatchObject({
        reason: 'completed',
        text: 'It was not allowed.',
        denied: [{ tool: 'Bash', subject: 'rm -rf build' }],
      });
    }
    expect(lastRequest()).toContain('without a person');
  });

  it('are answered by lines of stdin; a malformed line gets an error line and changes nothing', async () => {
    await mkdir(join(built.base.project, 'build'), { recursive: true });
    enqueue({ calls: [removal] });
    enqueue({ text: 'Removed.' });
    const running = start(['Clean up', '--json', '--approvals', 'stdin'], { stdin: null });
    const request = () => running.lines().find(({ type }) => type === 'event.approval.requested');
    await expect.poll(request).toBeDefined();
    const { approval_id } = z.object({ payload: z.object({ approval_id: z.string() }) }).parse(request()).payload;
    const write = (line: string) => running.child.stdin?.write(`${line}\n`);
    const errors = () => running.lines().filter(({ type }) => type === 'error');
    for (const line of ['no JSON', '{"approval_id":"x"}', JSON.stringify({ approval_id, decision: 'maybe' })])
      write(line);
    await expect.poll(() => errors().length).toBe(3);
    write(JSON.stringify({ approval_id: 'approval_unknown', decision: 'approved' }));
    await expect.poll(() => errors().length).toBe(4);
    write(JSON.stringify({ approval_id, decision: 'approved' }));
    expect(await running.exited).toBe(0);
    expect(running.lines().at(-1)).toMatchObject({ reason: 'completed', text: 'Removed.', denied: [] });
  });

  it('are rejected when the program that answers has closed stdin', async () => {
    enqueue({ calls: [removal] });
    enqueue({ text: 'Not removed.' });
    const running = start(['Clean up', '--json', '--approvals', 'stdin'], { stdin: null });
    await expect.poll(() => running.stdout()).toContain('event.approval.requested');
    running.child.stdin?.end();
    expect(await running.exited).toBe(3);
  });

  it('are not requested in the mode yolo', async () => {
    enqueue({ calls: [removal] });
    enqueue({ text: 'Removed.' });
    expect(await run(['Clean up', '--permission-mode', 'yolo'])).toMatchObject({ code: 0, out: 'Removed.\n' });
  });
});

describe('questions', () => {
  const ask = {
    name: 'AskUserQuestion',
    args: { questions: [{ question: 'Which one?', options: [{ label: 'Red' }, { label: 'Blue' }] }] },
  };

  it('are dismissed', async () => {
    enqueue({ calls: [ask] });
    enqueue({ text: 'I chose.' });
    expect(await run(['Paint'])).toMatchObject({ code: 0, out: 'I chose.\n' });
  });

  it('are answered by lines of stdin', async () => {
    enqueue({ calls: [ask] });
    enqueue({ text: 'Blue it is.' });
    const running = start(['Paint', '--json', '--approvals', 'stdin'], { stdin: null });
    const request = () => running.lines().find(({ type }) => type === 'event.question.requested');
    await expect.poll(request).toBeDefined();
    const { question_id } = z.object({ payload: z.object({ question_id: z.string() }) }).parse(request()).payload;
    const answers = { q_0: { kind: 'single', option_id: 'opt_0_1' } };
    running.child.stdin?.write(`${JSON.stringify({ question_id, answers })}\n`);
    expect(await running.exited).toBe(0);
    expect(lastRequest()).toContain('Blue');
  });
});

describe('endings', () => {
  it('a failed turn exits with 1', async () => {
    enqueue({ status: 400, error: 'The request is too strange.' });
    const { code, out, err } = await run(['Fail']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('too strange');
  });

  it.each([
    [['--bogus'], "Unknown option '--bogus'"],
    [[], 'there is no prompt'],
    [['a', 'b'], 'expected one prompt'],
    [['Hi', '--timeout', 'soon'], "option '--timeout'"],
    [['Hi', '--permission-mode', 'wild'], 'expected one of manual, auto, yolo'],
    [['Hi', '--approvals', 'stdin'], 'stdin needs --json'],
    [['Hi', '--session', 'session_none'], 'session_none'],
    [['Hi', '--model', 'none/such'], 'none/such'],
    [['Hi', '--file', 'missing.txt'], 'cannot read missing.txt'],
    [['Hi', '--continue', '--cwd', '/'], 'no session to continue'],
    [['Hi', '--cwd', 'missing'], 'missing'],
    [['Hi', '--url', 'ftp://x/#token=secret'], 'invalid URL of the server: expected'],
    [['Hi', '--url', 'http://name:secret@127.0.0.1/'], 'and no user'],
    [['Hi', '--token', 'secret'], "option '--token' needs '--url'"],
    [['Hi', '--demo', '--url', 'http://127.0.0.1:9'], "excludes '--url'"],
  ])('%j exits with 2', async (args, text) => {
    const { code, out, err } = await run(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(text);
    expect(err.trim().split('\n')).toHaveLength(1);
  });

  it.each([
    [['Hi', '--bogus'], "Unknown option '--bogus'"],
    [['Hi', '--timeout', 'soon'], "option '--timeout'"],
    [['a', 'b'], 'expected one prompt'],
    [['-', '--approvals', 'stdin'], 'must be an argument'],
    [['Hi', '--token', 'secret'], "option '--token' needs '--url'"],
  ])('%j with --json prints one line, the result', async (args, text) => {
    const { code, lines } = await run([...args, '--json']);
    expect(code).toBe(2);
    expect(lines()).toEqual([
      {
        type: 'result',
        session_id: null,
        reason: 'bad_use',
        text: '',
        usage: null,
        denied: [],
        background_tasks: 0,
        duration_ms: expect.any(Number),
        message: expect.stringContaining(text),
      },
    ]);
  });

  it('a --json after -- is a prompt, not an option', async () => {
    expect(await run(['--bogus', '--', '--json'])).toMatchObject({ code: 2, out: '' });
  });

  it('a home that cannot be used exits with 2, and with --json prints the result', async () => {
    const home = join(built.base.root, 'unusable');
    await writeFile(home, '');
    const { code, lines } = await run(['Hi', '--json'], { home });
    expect(code).toBe(2);
    expect(lines()).toMatchObject([{ type: 'result', reason: 'bad_use', session_id: null }]);
  });

  it('a server that is not there and a refused token exit with 4', async () => {
    expect(await run(['Hi', '--url', 'http://127.0.0.1:9/'])).toMatchObject({ code: 4, out: '' });
    expect(await run(['Hi', '--url', built.server.url], { env: { SERVICE_CODE_TOKEN: 'wrong' } })).toMatchObject({
      code: 4,
      out: '',
    });
  });

  it('an address and a token of the environment are used', async () => {
    enqueue({ text: 'Here.' });
    const env = { SERVICE_CODE_URL: built.server.url, SERVICE_CODE_TOKEN: built.server.token };
    expect(await run(['Hi'], { env, home: join(built.base.root, 'unused') })).toMatchObject({
      code: 0,
      out: 'Here.\n',
    });
  });

  it('a time-out exits with 124, and leaves the session idle', async () => {
    enqueue({ hang: true });
    expect(await run(['Wait', '--timeout', '1'])).toMatchObject({ code: 124, out: '' });
    expect(await newest()).toMatchObject({ busy: false });
  });

  it('an interrupt exits with 130, and leaves the session idle', async () => {
    const asked = built.base.model.requests.length;
    enqueue({ hang: true });
    const running = start(['Wait', '--json']);
    await built.base.model.waitForRequest(asked + 1);
    running.child.kill('SIGINT');
    expect(await running.exited).toBe(130);
    expect(running.lines().at(-1)).toMatchObject({ type: 'result', reason: 'interrupted' });
    expect(await newest()).toMatchObject({ busy: false });
  });

  it('a reader of the output that goes away ends the run', async () => {
    const asked = built.base.model.requests.length;
    enqueue({ text: Array.from({ length: 200 }, () => 'word '), paceMs: 20, hold: true });
    const running = start(['Count', '--json']);
    await built.base.model.waitForRequest(asked + 1);
    await expect.poll(() => running.stdout()).toContain('"session"');
    running.child.stdout?.destroy();
    expect(await running.exited).toBe(130);
    expect(await newest()).toMatchObject({ busy: false });
  });

  it('a second interrupt does not wait', async () => {
    const asked = built.base.model.requests.length;
    enqueue({ hang: true });
    const running = start(['Wait']);
    await built.base.model.waitForRequest(asked + 1);
    // The server does not answer the cancellation meanwhile.
    built.server.process.kill('SIGSTOP');
    onTestFinished(() => void built.server.process.kill('SIGCONT'));
    running.child.kill('SIGINT');
    const again = () => {
      running.child.kill('SIGINT');
      return running.child.exitCode;
    };
    await expect.poll(again).toBe(130);
  });

  it('an interrupt while a hook of the prompt runs cancels the prompt', async () => {
    const home = join(built.base.root, 'hooked');
    await mkdir(home);
    const hook = '\n[[hooks]]\nevent = "UserPromptSubmit"\ncommand = "touch started; sleep 600"\ntimeout = 500\n';
    await writeFile(join(home, 'config.toml'), (await readFile(join(built.base.home, 'config.toml'), 'utf8')) + hook);
    const running = start(['Wait', '--json'], { home });
    await expect.poll(() => readFile(join(built.base.project, 'started'), 'utf8').catch(() => undefined)).toBe('');
    running.child.kill('SIGINT');
    expect(await running.exited).toBe(130);
    expect(running.lines().map(({ type }) => type)).toContain('prompt.aborted');
    expect(running.lines().at(-1)).toMatchObject({ type: 'result', reason: 'interrupted', denied: [] });
  });

  it('a turn that another client cancels exits with 1', async () => {
    const asked = built.base.model.requests.length;
    enqueue({ hang: true });
    const running = start(['Wait', '--json']);
    await built.base.model.waitForRequest(asked + 1);
    await built.ok('POST', `/sessions/${(await newest())?.id}:abort`);
    expect(await running.exited).toBe(1);
    expect(running.lines().at(-1)).toMatchObject({ reason: 'cancelled', message: 'the turn was cancelled' });
  });

  it('a refused prompt leaves no session', async () => {
    const before = await sessions();
    expect(await run(['Hi', '--model', 'none/such'])).toMatchObject({ code: 2 });
    expect(await sessions()).toEqual(before);
  });

  it('the events are complete, from the first one on, each once', async () => {
    enqueue({ text: 'Done.' });
    const { lines } = await run(['Go', '--json']);
    const durable = lines().filter((line) => line['seq'] !== undefined && line['volatile'] !== true);
    expect(durable.map(({ seq }) => seq)).toEqual(durable.map((_, index) => index + 1));
    expect(durable[0]).toMatchObject({ type: 'event.session.created' });
  });

  it('| head -1 ends the run', async () => {
    enqueue({ text: Array.from({ length: 500 }, () => 'word '), paceMs: 20, hold: true });
    const command = `set -o pipefail; '${process.execPath}' '${COMMAND}' run Count --json < /dev/null | head -1`;
    const env = { ...process.env, SERVICE_CODE_HOME: built.base.home };
    const child = spawn('bash', ['-c', command], {
      cwd: built.base.project,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.on('data', (text: Buffer) => (out += text.toString()));
    const [code] = await once(child, 'close');
    expect(code).toBe(130);
    expect(JSON.parse(out)).toMatchObject({ type: 'session' });
    expect(await newest()).toMatchObject({ busy: false });
  });

  it('background tasks are named and counted, and the run does not wait for them', async () => {
    enqueue({
      calls: [{ name: 'Bash', args: { command: 'sleep 600', run_in_background: true, description: 'Sleeping' } }],
    });
    enqueue({ text: 'Started.' });
    const { code, err, lines } = await run(['Sleep', '--json', '--permission-mode', 'yolo']);
    expect(code).toBe(0);
    expect(lines().at(-1)).toMatchObject({ text: 'Started.', background_tasks: 1 });
    expect(err).toContain('background task');
  });
});

describe('without a running server', () => {
  it('its session is visible to other servers of the home, and no other command uses its server', async () => {
    const home = join(built.base.root, 'shared');
    await mkdir(home);
    await writeFile(join(home, 'config.toml'), await readFile(join(built.base.home, 'config.toml')));
    const asked = built.base.model.requests.length;
    const held = enqueue({ text: 'One.', hold: true });
    const first = start(['First', '--json'], { home });
    await built.base.model.waitForRequest(asked + 1);
    enqueue({ text: 'Two.' });
    expect(await run(['Second'], { home })).toMatchObject({ code: 0, out: 'Two.\n' });
    held.release();
    expect(await first.exited).toBe(0);
    const server = await spawnServer({ home });
    try {
      const { items } = sessionsSchema.parse((await server.api('GET', '/sessions')).data);
      expect(items).toMatchObject([{ busy: false }, { busy: false }]);
    } finally {
      await server.close();
    }
    expect(await readdir(join(home, 'server', 'instances'))).toEqual([]);
  });

  /** A home of its own, with the configuration of the others. */
  async function homeOf(name: string): Promise<string> {
    const home = join(built.base.root, name);
    await mkdir(home);
    await writeFile(join(home, 'config.toml'), await readFile(join(built.base.home, 'config.toml')));
    return home;
  }

  it('an interrupted run settles its session', async () => {
    const home = await homeOf('settles-interrupted');
    const asked = built.base.model.requests.length;
    enqueue({ hang: true });
    const running = start(['Wait', '--json'], { home });
    await built.base.model.waitForRequest(asked + 1);
    running.child.kill('SIGINT');
    expect(await running.exited).toBe(130);
    expect(running.lines().map(({ type }) => type)).toContain('prompt.aborted');
    expect(await readdir(join(home, 'server', 'instances'))).toEqual([]);
  });

  it('a run that exceeds its time settles its session', async () => {
    const home = await homeOf('settles-late');
    const asked = built.base.model.requests.length;
    enqueue({ hang: true });
    // The time includes the start of the server: on a busy machine it may end before the model receives the request.
    for (let seconds = 3; built.base.model.requests.length === asked; seconds *= 2) {
      const running = start(['Wait', '--json', '--timeout', String(seconds)], { home });
      expect(await running.exited).toBe(124);
      if (built.base.model.requests.length > asked) {
        expect(running.lines().map(({ type }) => type)).toContain('prompt.aborted');
      }
      expect(await readdir(join(home, 'server', 'instances'))).toEqual([]);
    }
  });

  it('starts one of its own that ends with it', async () => {
    const home = join(built.base.root, 'own');
    const { code, out, err } = await run(['hello', '--demo'], { home });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('demo model');
    // Without a model of its own.
    const without = await run(['hello'], { home });
    expect({ code: without.code, out: without.out }).toEqual({ code: 2, out: '' });
    expect(without.err.trim().split('\n')).toHaveLength(1);
  });
});
