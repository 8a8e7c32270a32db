/** The message list of a session. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { messageSchema } from '#schema/rest/message.ts';
import { startTalk, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const pageSchema = z.object({ items: z.array(messageSchema), has_more: z.boolean() });

describe('a message', () => {
  it('has the prompt’s id, the kinds of parts in order, and increasing times', async () => {
    const talk = await startTalk(world);
    const { prompt } = await talk.turn(
      'Look',
      [
        {
          thinking: 'Hm.',
          text: ['Read', 'ing.'],
          calls: [
            { name: 'Read', args: { path: 'a.txt' }, id: 'call_ok' },
            { name: 'Read', args: { path: 'gone.txt' }, id: 'call_bad' },
          ],
        },
        { text: 'Done.' },
      ],
      { prompt_id: 'my own: id' },
    );
    expect(prompt).toMatchObject({ prompt_id: 'my own: id', user_message_id: 'my own: id' });
    const all = await talk.messages();
    const [user, reminder, assistant, ...rest] = all;
    expect(user).toEqual({
      id: 'my own: id',
      session_id: talk.session.id,
      role: 'user',
      content: [{ type: 'text', text: 'Look' }],
      created_at: expect.any(String),
      metadata: { origin: { kind: 'user' } },
    });
    expect(reminder).toMatchObject({
      id: `msg_${talk.session.id}_000001`,
      role: 'user',
      metadata: { origin: { kind: 'injection' } },
    });
    expect(assistant).toEqual({
      id: `msg_${talk.session.id}_000002`,
      session_id: talk.session.id,
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text: 'Reading.' },
        { type: 'tool_use', tool_call_id: 'call_ok', tool_name: 'Read', input: { path: 'a.txt' } },
        { type: 'tool_use', tool_call_id: 'call_bad', tool_name: 'Read', input: { path: 'gone.txt' } },
      ],
      created_at: expect.any(String),
    });
    const results = rest.filter(({ role }) => role === 'tool').flatMap(({ content }) => content);
    expect(results).toHaveLength(2);
    expect(results).toContainEqual({
      type: 'tool_result',
      tool_call_id: 'call_ok',
      output: expect.stringContaining('hello'),
    });
    expect(results).toContainEqual({
      type: 'tool_result',
      tool_call_id: 'call_bad',
      output: expect.stringContaining('gone.txt'),
      is_error: true,
    });
    expect(rest.at(-1)).toMatchObject({ role: 'assistant', content: [{ type: 'text', text: 'Done.' }] });
    const times = all.map(({ created_at }) => Date.parse(created_at));
    times.reduce((before, time) => {
      expect(time).toBeGreaterThan(before);
      return time;
    });
    await world.restart();
    expect(await talk.messages()).toEqual(all);
  });

  it('contains arguments verbatim if they are invalid JSON', async () => {
    const talk = await startTalk(world);
    await talk.turn('Go', [{ calls: [{ name: 'Read', args: '{"path": ' }] }, { text: 'Hm.' }]);
    const uses = (await talk.messages()).flatMap(({ content }) => content.filter(({ type }) => type === 'tool_use'));
    expect(uses).toEqual([expect.objectContaining({ input: '{"path": ' })]);
  });

  it('contains an inline image as a data URL', async () => {
    const talk = await startTalk(world);
    world.model.enqueue({ text: 'A pixel.' });
    const source = { kind: 'base64', media_type: 'image/png', data: PNG };
    const { prompt_id } = (await world.ok('POST', `${talk.path}/prompts`, {
      content: [
        { type: 'image', source },
        { type: 'image', source: { kind: 'url', url: 'https://example.org/x.png', id: 'x' } },
      ],
    })) as { prompt_id: string };
    await talk.settled(prompt_id);
    const [message] = await talk.messages();
    expect(message).toMatchObject({ id: prompt_id, role: 'user' });
    expect(message?.content).toEqual([
      { type: 'image', source: { kind: 'url', url: `data:image/png;base64,${PNG}` } },
      { type: 'image', source: { kind: 'url', url: 'https://example.org/x.png', id: 'x' } },
    ]);
  });

  it('of a failed step is stored without content', async () => {
    const talk = await startTalk(world);
    await talk.turn('Go', [{ status: 400 }]);
    expect((await talk.messages()).map(({ role, content }) => [role, content.length])).toEqual([
      ['user', 1],
      ['user', 1],
      ['assistant', 0],
    ]);
  });
});

describe('the list', () => {
  let talk: Talk;
  /** Newest first. */
  let ids: string[];
  beforeAll(async () => {
    talk = await startTalk(world);
    for (const n of [1, 2, 3]) await talk.turn(`Prompt ${n}`, [{ text: `Answer ${n}` }]);
    ids = (await talk.messages()).map(({ id }) => id).toReversed();
    // Prompt, reminder, answer; prompt, answer; prompt, answer.
    expect(ids).toHaveLength(7);
  });

  const list = async (query: string) =>
    pageSchema.parse(await world.ok('GET', `${talk.path}/messages${query.replace(/\$(\d)/g, (_, n) => ids[n] ?? '')}`));

  it.each<[query: string, places: number[], more: boolean]>([
    ['', [0, 1, 2, 3, 4, 5, 6], false],
    ['?page_size=3', [0, 1, 2], true],
    ['?page_size=7', [0, 1, 2, 3, 4, 5, 6], false],
    ['?before_id=$2', [3, 4, 5, 6], false],
    ['?before_id=$2&page_size=2', [3, 4], true],
    ['?before_id=$6', [], false],
    ['?after_id=$4', [0, 1, 2, 3], false],
    // The newest of the messages after the cursor, not those next to it.
    ['?after_id=$4&page_size=2', [0, 1], true],
    ['?after_id=$0', [], false],
    ['?before_id=unknown&page_size=2', [0, 1], true],
    ['?after_id=unknown&page_size=2', [0, 1], true],
    ['?role=assistant', [0, 2, 4], false],
    ['?role=assistant&page_size=2', [0, 2], true],
    ['?role=assistant&before_id=$1', [2, 4], false],
    ['?role=tool', [], false],
    ['?role=system', [], false],
  ])('%s', async (query, places, more) => {
    const { items, has_more } = await list(query);
    expect(items.map(({ id }) => ids.indexOf(id))).toEqual(places);
    expect(has_more).toBe(more);
  });

  it.each([
    ['page_size=0', 'page_size', 'Too small: expected number to be >=1'],
    ['page_size=101', 'page_size', 'Too big: expected number to be <=100'],
    ['before_id=a&after_id=b', 'before_id', 'before_id and after_id are mutually exclusive'],
    ['role=robot', 'role', 'Invalid option: expected one of "user"|"assistant"|"tool"|"system"'],
  ])('refuses %s', async (query, path, message) => {
    expect(await world.api('GET', `${talk.path}/messages?${query}`)).toMatchObject({
      code: 40001,
      details: [{ path, message }],
    });
  });

  it('each message can be read by its id', async () => {
    for (const message of await talk.messages()) {
      expect(await world.ok('GET', `${talk.path}/messages/${encodeURIComponent(message.id)}`)).toEqual(message);
    }
    expect(await world.api('GET', `${talk.path}/messages/msg_x`)).toMatchObject({
      code: 40403,
      msg: `message msg_x does not exist in session ${talk.session.id}`,
      data: null,
    });
  });

  it('has a default page size of 50', async () => {
    const long = await startTalk(world);
    const calls = Array.from({ length: 50 }, (_, n) => ({ name: 'NoSuchTool', args: { n } }));
    await long.turn('Go', [{ calls }, { text: 'Done.' }]);
    const { items, has_more } = pageSchema.parse(await world.ok('GET', `${long.path}/messages`));
    expect([items.length, has_more]).toEqual([50, true]);
  });
});
