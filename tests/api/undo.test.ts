/** Undo: the last turns of a conversation go; what they did stays. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';
import type { Message } from '#schema/message.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

interface Undone {
  messages: { items: Message[]; has_more: boolean };
  status: Record<string, unknown>;
}
const undo = async ({ path }: Talk, body?: unknown) =>
  (await world.ok('POST', `${path}:undo`, body)) as unknown as Undone;
const textOf = ({ content }: Message) => content.map((part) => (part.type === 'text' ? part.text : '')).join('');
const said = (messages: Message[]) => messages.map(textOf).filter((text) => !text.includes('system-reminder'));

test('the last turn goes, with its prompt, from messages, list and the next request', async () => {
  const talk = await startTalk(world);
  await talk.turn('One', [{ text: 'First.' }]);
  const before = await talk.messages();
  const status = await talk.status();
  await talk.turn('Two', [{ calls: [call('Write', { path: 'kept.txt', content: 'x' })] }, { text: 'Second.' }], {
    permission_mode: 'yolo',
  });
  const undone = await undo(talk);
  expect(undone.messages).toEqual({ items: before.toReversed(), has_more: false });
  expect(undone.status).toEqual({ ...status, permission: 'yolo' });
  expect(await talk.messages()).toEqual(before);
  expect(await world.ok('GET', talk.path)).toMatchObject({ last_prompt: 'One' });
  await talk.turn('Three', [{ text: 'Third.' }]);
  expect(wireMessages(world, -1).map(wireText).join()).not.toContain('Two');
  expect(said(await talk.messages())).toEqual(['One', 'First.', 'Three', 'Third.']);
  // Numbers of turns are given once.
  expect(talk.all('turn.started').map(({ payload }) => payload.turnId)).toEqual([0, 1, 2]);
});

test('all of what is asked for goes, or nothing', async () => {
  const talk = await startTalk(world);
  const refused = async (body: unknown, data: unknown) => {
    const answer = await world.api('POST', `${talk.path}:undo`, body);
    expect(answer).toMatchObject({ code: 40911, data });
    return answer.msg;
  };
  expect(await refused(undefined, { reason: 'empty', requestedCount: 1, undoableCount: 0 })).toBe(
    'Nothing to undo: no user message to undo',
  );
  await talk.turn('One', [{ text: 'First.' }]);
  await talk.turn('Two', [{ text: 'Second.' }]);
  expect(await refused({ count: 3 }, { reason: 'insufficient', requestedCount: 3, undoableCount: 2 })).toBe(
    'Nothing to undo: only 2 of 3 requested turn(s) available',
  );
  expect(talk.all('context.undone')).toEqual([]);
  const undone = await undo(talk, { count: 2 });
  expect(said(undone.messages.items)).toEqual([]);
  expect(await world.ok('GET', talk.path)).not.toHaveProperty('last_prompt');
  expect(talk.all('context.undone').map(({ payload }) => payload.turns)).toEqual([2]);
});
