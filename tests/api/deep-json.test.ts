/** JSON that nests deeper than 200 levels, from any source, harms no session and no server. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_JSON_LEVELS } from '#server/text/json.ts';
import type { Message } from '#schema/rest/message.ts';
import { call, startTalk, wireMessages, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';
import { connect } from '#support/ws-client.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ modelRecord: { max_context_size: 10_000_000 } });
});
afterAll(() => world.close());

const lists = (levels: number, inner = '1') => '['.repeat(levels) + inner + ']'.repeat(levels);
/** An object with a nested path; `levels` includes the object. */
const argumentsOf = (levels: number) => `{"path":${lists(levels - 1)}}`;
const MANY_BRACKETS = '[{'.repeat(500_000);

const yolo = { permission_mode: 'yolo' };
const readCall = (talk: Talk, args: unknown) =>
  talk.turn('go', [{ calls: [call('Read', args)] }, { text: 'Done.' }], yolo);
const inputs = (messages: readonly Message[]): unknown[] =>
  messages.flatMap(({ content }) => content.flatMap((part) => (part.type === 'tool_use' ? [part.input] : [])));
const toolInputs = (transcript: unknown): string[] =>
  [...JSON.stringify(transcript).matchAll(/"input":("(?:[^"\\]|\\.)*"|\{)/g)].map(([, input = '']) => input);

async function transcript({ path }: Pick<Talk, 'path'>): Promise<unknown> {
  return world.ok('GET', `${path}/transcript?agent_id=main&page_size=100`);
}

describe('arguments from a model', () => {
  test.each([MAX_JSON_LEVELS + 1, 1000, 2000, 3000, 6000, 100_000])(
    'with %i levels are invalid JSON to the tool and the provider, and text to clients',
    async (levels) => {
      const talk = await startTalk(world);
      const text = argumentsOf(levels);
      const { ended, results, frames } = await readCall(talk, text);
      expect(ended.reason).toBe('completed');
      expect(results).toEqual([{ toolCallId: 'call_1', isError: true, output: expect.stringMatching(/path: /) }]);
      expect(frames.find(({ type }) => type === 'tool.call.started')?.payload.args).toBe(text);
      expect(inputs(await talk.messages())).toEqual([text]);
      expect(inputs((await world.snapshot(talk.session.id)).messages.items)).toEqual([text]);
      expect(toolInputs(await transcript(talk))).toEqual([JSON.stringify(text)]);
      const sent = wireMessages(world, -1).find(({ tool_calls }) => tool_calls)?.tool_calls?.[0]?.function.arguments;
      expect(sent).toBe('{}');

      const fork = (await world.ok('POST', `${talk.path}:fork`, {})) as { id: string };
      expect(inputs(await world.messages(fork.id))).toEqual([text]);
      const undone = await world.ok('POST', `${talk.path}:undo`);
      expect(undone).toMatchObject({ messages: { items: expect.any(Array) } });
      expect(inputs(await talk.messages())).toEqual([]);
      expect((await talk.turn('Again', [{ text: 'Fine.' }])).ended.reason).toBe('completed');
    },
  );

  test('with 200 levels are parsed', async () => {
    const talk = await startTalk(world);
    const text = argumentsOf(MAX_JSON_LEVELS);
    const { results } = await readCall(talk, text);
    expect(results[0]?.output).toMatch(/path: .*expected string, received array/);
    expect(inputs(await talk.messages())).toEqual([JSON.parse(text)]);
  });

  test('with a million brackets in a string are parsed', async () => {
    const talk = await startTalk(world);
    const args = { path: 'brackets.txt', content: MANY_BRACKETS };
    await talk.turn('go', [{ calls: [call('Write', args)] }, { text: 'Done.' }], yolo);
    expect(await readFile(join(world.project, 'brackets.txt'), 'utf8')).toBe(MANY_BRACKETS);
    expect(inputs(await talk.messages())).toEqual([args]);
  });
});

test.each([1000, 2000, 3000])(
  'a journal with arguments nested %i levels deep is read, forked and undone',
  async (levels) => {
    const talk = await startTalk(world);
    // A long text makes the records reference files; resolving the references walks the whole record.
    const long = { content: 'x'.repeat(20_000), path: JSON.parse(lists(99)) };
    await readCall(talk, long);
    await readCall(talk, argumentsOf(100));
    await talk.turn('More', [{ text: 'Fine.' }]);
    await world.ok('POST', `${talk.path}:archive`);
    const { workspace_id: workspace, id } = talk.session;
    const journal = join(world.server.home, 'sessions', workspace, id, 'journal.ndjson');
    const before = await readFile(journal, 'utf8');
    // Replaces both the model's text and its parsed form.
    const after = before.replaceAll(argumentsOf(100).slice(9, -1), argumentsOf(levels).slice(9, -1));
    expect(after.length - before.length).toBeGreaterThan(2 * levels);
    await writeFile(journal, after);

    expect(inputs(await world.messages(id)).at(-1)).toBe(argumentsOf(levels));
    expect(inputs((await world.snapshot(id)).messages.items).at(-1)).toBe(argumentsOf(levels));
    expect(toolInputs(await transcript(talk)).at(-1)).toBe(JSON.stringify(argumentsOf(levels)));
    await world.ok('POST', `${talk.path}:restore`);
    const fork = (await world.ok('POST', `${talk.path}:fork`, {})) as { id: string };
    expect(inputs(await world.messages(fork.id)).at(-1)).toBe(argumentsOf(levels));
    expect(await world.ok('POST', `${talk.path}:undo`)).toMatchObject({ messages: { items: expect.any(Array) } });
    expect(inputs(await world.messages(id)).at(-1)).toBe(argumentsOf(levels));
    // Replays the events of the turn to a new client.
    const frames = (await world.watch(id)).durable(id);
    expect(frames.findLast(({ type }) => type === 'tool.call.started')?.payload.args).toBe(argumentsOf(levels));
  },
);

describe('request bodies', () => {
  const create = (metadata: string) =>
    world.server.fetch('/api/v1/sessions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"metadata":{"cwd":${JSON.stringify(world.project)},"x":${metadata}}}`,
    });

  test.each([MAX_JSON_LEVELS - 1, 100_000])('with %i levels in metadata are refused', async (levels) => {
    const answer = await create(lists(levels));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('connection')).toBe('close');
    expect(await answer.json()).toMatchObject({
      code: 40001,
      msg: 'Body is nested too deeply',
      details: [{ path: '', message: 'Body is nested too deeply' }],
    });
  });

  test.each([
    ['200 levels', lists(MAX_JSON_LEVELS - 2)],
    ['a string with many brackets', JSON.stringify(MANY_BRACKETS.slice(0, 900_000))],
  ])('with %s are accepted', async (_what, metadata) => {
    expect(await (await create(metadata)).json()).toMatchObject({ code: 0 });
  });
});

describe('WebSocket frames', () => {
  const frame = (levels: number) => `{"type":"ping","id":1,"payload":{"nonce":"n","x":${lists(levels - 2)}}}`;

  test('with more than 200 levels are answered with an error, and the connection stays open', async () => {
    const client = await connect(world.server);
    for (const levels of [MAX_JSON_LEVELS + 1, 100_000]) client.sendRaw(frame(levels));
    client.sendRaw(frame(MAX_JSON_LEVELS));
    await client.waitFor(({ type }) => type === 'pong');
    const [, ...answers] = client.frames;
    expect(answers.map(({ type, payload }) => [type, payload.code ?? payload.nonce, payload.fatal])).toEqual([
      ['error', 40001, false],
      ['error', 40001, false],
      ['pong', 'n', undefined],
    ]);
    await client.close();
  });

  test('with a string of many brackets are accepted', async () => {
    const client = await connect(world.server);
    client.sendRaw(JSON.stringify({ type: 'ping', payload: { nonce: MANY_BRACKETS } }));
    const { payload } = await client.waitFor(({ type }) => type === 'pong');
    expect(payload.nonce).toBe(MANY_BRACKETS);
    await client.close();
  });
});
