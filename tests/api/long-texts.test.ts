/** Texts far longer than a journal line may be, from a client to the model and back. */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, startTalk, wireMessages } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ config: { loop_control: { max_attempts_per_step: 1 } } });
});
afterAll(() => world.close());

const LONG = 400_000;
const long = (name: string) => `${name} ${name.slice(0, 1).repeat(LONG)}`;

test('a prompt, a call that needs approval, its refusal, an answer and a truncated answer', async () => {
  // Without git, writes need approval.
  const cwd = join(dirname(world.project), 'bare');
  await mkdir(cwd);
  const talk = await startTalk(world, { metadata: { cwd } });
  const prompt = long('prompt');
  const content = long('written');
  const first = talk.turn(prompt, [
    { text: long('thought'), calls: [call('Write', { path: 'long.txt', content })] },
    { calls: [call('Write', { path: 'other.txt', content: long('never') })] },
    { text: long('answer') },
  ]);
  const asked = await talk.approval();
  expect(asked.tool_input_display).toMatchObject({ kind: 'file_io', content });
  await talk.answer(asked.approval_id, { decision: 'approved' });
  await talk.answer((await talk.approval(2)).approval_id, { decision: 'rejected', feedback: long('because') });
  const { ended, frames, results } = await first;
  expect(ended.reason).toBe('completed');
  expect(await readFile(join(cwd, 'long.txt'), 'utf8')).toBe(content);
  expect(frames.find(({ type }) => type === 'turn.started')?.payload.prompt).toBe(prompt);
  expect(frames.find(({ type }) => type === 'tool.call.started')?.payload).toMatchObject({ args: { content } });
  expect(results.at(-1)?.output).toContain(long('because'));
  const sent = wireMessages(world, -1);
  expect(sent.find(({ tool_calls }) => tool_calls)?.tool_calls?.[0]?.function.arguments).toContain(content);
  expect(JSON.stringify(sent)).toContain(prompt);

  const broken = await talk.turn('again', [{ text: long('half'), noEnd: true }]);
  expect(broken.ended.reason).toBe('failed');

  const messages = await talk.messages();
  const texts = JSON.stringify(messages);
  const names = ['prompt', 'thought', 'written', 'never', 'because', 'answer', 'half'];
  expect(names.filter((name) => !texts.includes(long(name)))).toEqual([]);
  await world.restart();
  expect(await world.messages(talk.session.id)).toEqual(messages);
});
