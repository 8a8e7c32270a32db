/**
 * Homes that builds of before wrote (`tests/fixtures/homes/`): a server lists, reads, searches and continues their
 * sessions, and nothing in their files is lost. `HOME_NAME` and `HOME_BUILD` (a folder with `bin/` and `.output/`) write
 * such a home.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { searchReplySchema } from '#schema/rest/search.ts';
import { sessionSchema } from '#schema/rest/session.ts';
import { transcriptPageSchema } from '#schema/rest/transcript.ts';
import type { BuiltHome } from '#support/built-home.ts';
import { comparable, filesOf, HOMES, makePlace, placeHome, storeHome } from '#support/home-fixture.ts';
import { homeRequests, type HomeRequests } from '#support/home-requests.ts';
import { storySchema, writeStory, type HomeStory } from '#support/home-story.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';

const { HOME_NAME, HOME_BUILD } = process.env;

it.runIf(HOME_NAME && HOME_BUILD)('writes a home', async () => {
  const place = await makePlace();
  try {
    const story = await writeStory(join(HOME_BUILD ?? '', '.output/server/index.mjs'), place);
    await storeHome(HOME_NAME ?? '', place, story);
  } finally {
    await place.remove();
  }
});

describe.each(await readdir(HOMES))('the home %s', (name) => {
  let place: BuiltHome;
  let story: HomeStory;
  let original: Map<string, Buffer>;
  let server: SpawnedServer;
  let requests: HomeRequests;
  beforeAll(async () => {
    place = await makePlace();
    await placeHome(name, place);
    story = storySchema.parse(JSON.parse(await readFile(join(HOMES, name, 'expected.json'), 'utf8')));
    original = await filesOf(place.home);
    await start();
  });
  const start = async () => {
    server = await spawnServer({ home: place.home });
    requests = homeRequests(server, place);
  };
  /** All messages as a fixture has them, newest first. */
  const messagesOf = async (id: string) => (await requests.read(id)).messages;
  /** The sessions with a word of each. */
  const words = () => Object.entries(story.words);
  afterAll(async () => {
    await server.close();
    await place.remove();
  });

  it('has its sessions, settings, workspaces and uploads', async () => {
    const { ok } = requests;
    const listed = await ok('GET', '/sessions?include_archive=true&page_size=100');
    const ids = [...Object.keys(story.sessions), story.killed.id];
    expect(listed).toMatchObject({ has_more: false });
    expect(JSON.stringify(listed)).toSatisfy((text: string) => ids.every((id) => text.includes(`"id":"${id}"`)));
    expect(comparable(await ok('GET', '/config'), place)).toMatchObject(story.config);
    expect(comparable(await ok('GET', '/workspaces'), place)).toMatchObject(story.workspaces);
    const upload = await server.fetch(`/api/v1/files/${story.upload.id}`);
    expect(await upload.text()).toBe(story.upload.text);
  });

  it('has everything that its build replied about its sessions', async () => {
    for (const [id, replied] of Object.entries(story.sessions)) {
      expect(await requests.read(id)).toMatchObject(replied);
    }
  });

  it('settles the turn in which its server was killed', async () => {
    const { killed } = story;
    await requests.idle(killed.id);
    const read = transcriptPageSchema.parse(
      await requests.ok('GET', `/sessions/${killed.id}/transcript?agent_id=main&page_size=100`),
    );
    expect(read.pending_interactions).toEqual([]);
    expect(read.items.flatMap((item) => (item.kind === 'turn' ? [item.state] : []))).toEqual([
      'completed',
      'cancelled',
    ]);
    const messages = await messagesOf(killed.id);
    expect(messages.slice(-killed.messages.length)).toMatchObject(killed.messages);
  });

  it('finds what was said in each session, in archived ones after they are restored', async () => {
    for (const id of Object.keys(story.words)) {
      const { archived } = sessionSchema.parse(await requests.ok('GET', `/sessions/${id}`));
      if (archived) await requests.ok('POST', `/sessions/${id}:restore`);
    }
    for (const [id, word] of words()) {
      const found = async () =>
        searchReplySchema.parse(await requests.ok('POST', '/search', { query: word, page_size: 50 }));
      await expect.poll(async () => (await found()).items.map((hit) => hit.session_id)).toContain(id);
    }
  });

  it('continues each session, whose model has received what was said before', async () => {
    for (const [id, word] of words()) {
      const before = await messagesOf(id);
      place.model.enqueue({ text: `Continued after ${word}.` });
      await requests.prompt(id, 'Go on.');
      await requests.idle(id);
      expect(place.model.requests.at(-1)?.body['messages']).toSatisfy((sent) => JSON.stringify(sent).includes(word));
      const after = await messagesOf(id);
      expect(after.slice(-before.length)).toEqual(before);
      expect(JSON.stringify(after[0])).toContain(`Continued after ${word}.`);
    }
  });

  it('has everything in its files, also after another start without the index', async () => {
    const ids = words().map(([id]) => id);
    const before = await Promise.all(ids.map(messagesOf));
    await server.stop();
    await rm(join(place.home, 'cache'), { recursive: true });
    const now = await filesOf(place.home);
    for (const [path, bytes] of original) {
      if (/\/lock\.\d+$/.test(path)) continue;
      const found = now.get(path)?.toString();
      if (path.endsWith('.ndjson')) expect(found?.startsWith(bytes.toString())).toBe(true);
      else if (path.endsWith('/state.json')) expect(found).toBeDefined();
      else expect(found).toBe(bytes.toString());
    }
    await start();
    expect(await Promise.all(ids.map(messagesOf))).toEqual(before);
  });
});
