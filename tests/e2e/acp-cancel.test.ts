/** An editor that cancels: at random moments of a turn, each prompt gets one reply, and the session stays usable. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { choose } from '#support/acp-editor.ts';
import { startAcp, type AcpProcess } from '#support/acp-process.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { until } from '#support/patience.ts';

const MOMENTS = 20;
const LONGEST_MS = 400;

const base = useBuiltServer(undefined, { per: 'file' });
let editor: AcpProcess;

beforeAll(async () => {
  editor = await startAcp(base.server);
});
afterAll(() => editor.close());

it('ends a prompt once when it is cancelled at any moment', async () => {
  const id = await editor.open(base.base.project);
  editor.permit(async (request) => {
    await delay(40);
    return choose('allow_once')(request);
  });
  base.base.model.answerBy(({ body }) => {
    const messages: unknown = body['messages'];
    const last = JSON.stringify(Array.isArray(messages) ? messages.at(-1) : messages);
    if (last.includes('Still there')) return { text: 'Yes.' };
    if (last.includes('"tool"')) return { text: ['Some ', 'more ', 'text'], paceMs: 20 };
    const args = { command: 'for i in 1 2 3 4; do echo $i; sleep 0.03; done' };
    return {
      thinking: 'Hm.',
      text: ['A ', 'word ', 'or ', 'two.'],
      paceMs: 20,
      calls: [{ name: 'Bash', args, id: null }],
    };
  });

  for (let moment = 0; moment < MOMENTS; moment += 1) {
    const reply = editor.prompt(id, `Prompt ${moment}`);
    await delay(Math.random() * LONGEST_MS);
    await editor.agent.notify('session/cancel', { sessionId: id });
    expect(['cancelled', 'end_turn']).toContain(await reply);
    expect(await base.ok('GET', `/sessions/${id}/prompts`)).toEqual({ active: null, queued: [] });
  }
  await until(async () => JSON.stringify(await base.ok('GET', `/sessions/${id}`)).includes('"busy":false'));
  expect(await editor.prompt(id, 'Still there?')).toBe('end_turn');
  expect(editor.text('agent_message_chunk', id)).toMatch(/Yes\.$/);

  // A cancelled request has no further reply, and every call has ended.
  const replies = editor
    .output()
    .split('\n')
    .filter((line) => line.includes('"stopReason"'));
  expect(replies).toHaveLength(MOMENTS + 1);
  const calls = new Set(editor.updatesOf('tool_call', id).map(({ toolCallId }) => toolCallId));
  for (const call of calls) expect(['completed', 'failed']).toContain(editor.call(call).status);
});
