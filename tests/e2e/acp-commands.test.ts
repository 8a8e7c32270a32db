/** Slash commands of an editor next to other clients, and what is left of a session that it closes. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { choose } from '#support/acp-editor.ts';
import { startAcp, type AcpProcess } from '#support/acp-process.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { until } from '#support/patience.ts';
import { connect } from '#support/ws-client.ts';

const base = useBuiltServer(
  async ({ project }) => {
    const folder = join(project, '.service-code/skills/greet');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'SKILL.md'), '---\nname: greet\ndescription: Greets\n---\nSay hello to $ARGUMENTS.\n');
  },
  { per: 'file' },
);
let editor: AcpProcess;

beforeAll(async () => {
  editor = await startAcp(base.server);
});
afterAll(async () => {
  expect(await editor.close()).toBe(0);
});

const cancel = (sessionId: string) => editor.agent.notify('session/cancel', { sessionId });
const isIdle = async (id: string) => JSON.stringify(await base.ok('GET', `/sessions/${id}`)).includes('"busy":false');
/** Starts a turn of another client, which lasts until its answer is released. */
async function otherTurn(id: string) {
  const answer = base.base.model.enqueue({ text: 'For the page.', hold: true });
  await base.prompt(id, 'From the page');
  await until(() => editor.text('agent_message_chunk', id) === 'For the page.');
  return answer;
}
/** Resolves to a function that waits until a prompt has joined the running turn. */
async function onSteered(id: string): Promise<() => Promise<void>> {
  const events = await connect(base.server);
  onTestFinished(() => events.close());
  await events.send({ type: 'subscribe', payload: { session_ids: [id] } });
  return async () => void (await events.waitFor(({ type }) => type === 'prompt.steered'));
}
async function openWithSkills(): Promise<string> {
  const id = await editor.open(base.base.project);
  await until(() =>
    editor
      .updatesOf('available_commands_update', id)
      .some((one) => one.availableCommands.some((each) => each.name === 'greet')),
  );
  return id;
}

describe('a skill while a turn of another client runs', () => {
  it('joins that turn, and answers with its end', async () => {
    const id = await openWithSkills();
    const answer = await otherTurn(id);
    const steered = await onSteered(id);
    const reply = editor.prompt(id, '/greet the world');
    await steered();
    base.base.model.enqueue({ text: ' Hello, world.' });
    answer.release();
    expect(await reply).toBe('end_turn');
    expect(editor.text('agent_message_chunk', id)).toBe('For the page. Hello, world.');
    expect(editor.text('user_message_chunk', id)).toBe('From the page');
    expect(JSON.stringify(base.base.model.requests.at(-1)?.body)).toContain('Say hello to the world.');
  });

  it('is cancelled with it', async () => {
    const id = await openWithSkills();
    await otherTurn(id);
    const steered = await onSteered(id);
    const reply = editor.prompt(id, '/greet the world');
    await steered();
    await cancel(id);
    expect(await reply).toBe('cancelled');
    await until(() => isIdle(id));
  });
});

describe('/compact', () => {
  async function openWithHistory(): Promise<string> {
    const id = await editor.open(base.base.project);
    base.base.model.enqueue({ text: 'Answer.' });
    await editor.prompt(id, 'Prompt');
    return id;
  }

  it('that is cancelled ends on the server too, and changes nothing', async () => {
    const id = await openWithHistory();
    const asked = base.base.model.requests.length;
    base.base.model.enqueue({ text: 'The summary.', hold: true });
    const reply = editor.prompt(id, '/compact');
    await base.base.model.waitForRequest(asked + 1);
    await cancel(id);
    expect(await reply).toBe('cancelled');
    await base.base.model.waitForAbort(asked + 1);
    await until(() => isIdle(id));
    base.base.model.enqueue({ text: 'Still here.' });
    expect(await editor.prompt(id, 'Next')).toBe('end_turn');
    const body = JSON.stringify(base.base.model.requests.at(-1)?.body);
    expect(body).toContain('Answer.');
    expect(body).not.toContain('The summary.');
  });

  it('that fails is an error with its message', async () => {
    const id = await openWithHistory();
    base.base.model.enqueue({ status: 400, error: 'no summary today' });
    await expect(editor.prompt(id, '/compact')).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining('no summary today'),
    });
  });

  it('of a session that is closed is cancelled', async () => {
    const id = await openWithHistory();
    const asked = base.base.model.requests.length;
    base.base.model.enqueue({ text: 'The summary.', hold: true });
    const reply = editor.prompt(id, '/compact');
    await base.base.model.waitForRequest(asked + 1);
    await editor.agent.request('session/close', { sessionId: id });
    expect(await reply).toBe('cancelled');
    await base.base.model.waitForAbort(asked + 1);
  });
});

describe('a closed session', () => {
  const tasks = z.object({ items: z.array(z.object({ status: z.string() })) });
  const statuses = async (id: string) =>
    tasks.parse(await base.ok('GET', `/sessions/${id}/tasks`)).items.map(({ status }) => status);

  it('has no background task left, and no turn that reports its end', async () => {
    const id = await editor.open(base.base.project);
    editor.permit(choose('allow_once'));
    const sleep = (command: string) => ({
      name: 'Bash',
      args: { command, run_in_background: true, description: 'Sleeping' },
    });
    base.base.model.enqueue({ calls: [sleep('sleep 600'), sleep('sleep 700')] });
    base.base.model.enqueue({ text: 'Started.' });
    expect(await editor.prompt(id, 'Start')).toBe('end_turn');
    expect(await statuses(id)).toEqual(['running', 'running']);
    base.base.model.answerBy(() => ({ hang: true }));
    await editor.agent.request('session/close', { sessionId: id });
    base.base.model.answerBy(() => undefined);
    expect(await statuses(id)).toEqual(['cancelled', 'cancelled']);
    await until(() => isIdle(id));
  });
});
