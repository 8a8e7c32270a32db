/** The life of a plugin on the built server: from a catalog, in a conversation, through updates, to its removal. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { makeBuiltHome, type BuiltHome } from '#support/built-home.ts';
import { putFile } from '#support/files.ts';
import type { Script } from '#support/model-server.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';
import { serveDuringTest, zipOf } from '#support/zips.ts';
import { connect, type WsClient } from '#support/ws-client.ts';

let built: BuiltHome;
beforeAll(async () => {
  built = await makeBuiltHome();
});
afterAll(() => built.remove());

/** The files of version `version` of the plugin. */
async function filesOf(version: string): Promise<Record<string, string>> {
  return {
    'service.plugin.json': JSON.stringify({
      name: 'story',
      version,
      skills: './skills',
      commands: './commands',
      hooks: [{ event: 'UserPromptSubmit', matcher: 'forbidden', command: 'echo Not this. >&2; exit 2' }],
      mcpServers: { told: { command: 'node', args: ['./server.mjs'] } },
    }),
    'skills/tale/SKILL.md': `---\nname: tale\ndescription: Tells a tale\n---\nTell a tale of version ${version}.\n`,
    'commands/begin.md': 'Begin with $ARGUMENTS.',
    'agents/teller.md': '---\ndescription: Tells\n---\nYou tell tales.',
    'server.mjs': await readFile('tests/support/hostile-mcp-server.mjs', 'utf8'),
  };
}

const sessionSchema = z.object({ id: z.string() });
const skillsSchema = z.object({ skills: z.array(z.object({ name: z.string(), source: z.string() })) });
const catalogSchema = z.object({ entries: z.array(z.looseObject({ id: z.string(), source: z.string() })) });

/** A conversation with its events. */
async function talkOn(server: SpawnedServer) {
  const made = await server.api('POST', '/sessions', { metadata: { cwd: built.project } });
  const { id } = sessionSchema.parse(made.data);
  const events: WsClient = await connect(server);
  await events.send({ type: 'subscribe', payload: { session_ids: [id], cursors: { [id]: { seq: 0 } } } });
  let prompts = 0;
  const settled = () => {
    prompts += 1;
    const count = prompts;
    return events.waitFor(() => events.durable(id).filter(({ type }) => type === 'prompt.completed').length >= count);
  };
  return {
    id,
    path: `/sessions/${id}`,
    events,
    all: (type: string) => events.durable(id).flatMap((frame) => (frame.type === type ? [frame.payload] : [])),
    async prompt(text: string, scripts: Script[], more: object = {}) {
      for (const script of scripts) built.model.enqueue(script);
      const content = [{ type: 'text', text }];
      await server.api('POST', `/sessions/${id}/prompts`, { content, permission_mode: 'yolo', ...more });
      await settled();
    },
    /** Activates a slash command; returns the code of the reply. */
    async activate(name: string, args: string, scripts: Script[] = []) {
      for (const script of scripts) built.model.enqueue(script);
      const reply = await server.api('POST', `/sessions/${id}/skills/${encodeURIComponent(name)}:activate`, { args });
      if (reply.code === 0) await settled();
      return reply.code;
    },
    async names() {
      const { data } = await server.api('GET', `/sessions/${id}/skills`);
      const { skills } = skillsSchema.parse(data);
      // The shipped skills are part of the built output.
      expect(skills.filter(({ source }) => source === 'builtin')).toHaveLength(7);
      return skills.flatMap(({ name, source }) => (source === 'builtin' ? [] : [name]));
    },
  };
}

const lastRequest = () => JSON.stringify(built.model.requests.at(-1)?.body);
const done: Script[] = [{ text: 'Done.' }];

/** Everything that an installed plugin adds, in a conversation of before and in a new one. */
async function isInUse(server: SpawnedServer, version: string): Promise<void> {
  const talk = await talkOn(server);
  expect(await talk.names()).toEqual(['tale', 'story:begin']);
  expect(await talk.activate('story:begin', 'once', done)).toBe(0);
  expect(lastRequest()).toContain('Begin with once.');
  await talk.prompt('A tale', [{ calls: [{ name: 'Skill', args: { skill: 'tale' } }] }, ...done]);
  expect(lastRequest()).toContain(`Tell a tale of version ${version}.`);
  await talk.prompt('forbidden', []);
  expect(talk.all('hook.result')).toMatchObject([{ content: 'Not this.', blocked: true }]);
  await talk.prompt('The tool', [
    { calls: [{ name: 'mcp__plugin-story_told__echo', args: { text: 'cwd' } }] },
    ...done,
  ]);
  expect(talk.all('tool.result').at(-1)).toMatchObject({
    output: expect.stringContaining(join('plugins', 'managed', 'story')),
  });
  await talk.events.close();
  const other = await talkOn(server);
  await other.prompt('As the agent', done, { profile: 'teller' });
  expect(lastRequest()).toContain('You tell tales.');
  await other.events.close();
}

test('from the catalog to the removal', async () => {
  const served: Record<string, Buffer | string> = {};
  const address = await serveDuringTest(served);
  const publish = async (version: string, archive: Buffer | string) => {
    served['/story.zip'] = archive;
    served['/catalog.json'] = JSON.stringify({
      plugins: [{ id: 'story', source: 'story.zip', version, tier: 'curated', displayName: 'Story' }],
    });
  };
  await publish('1.0.0', await zipOf(await filesOf('1.0.0')));
  const env = { SERVICE_CODE_PLUGIN_MARKETPLACE_URL: `${address}/catalog.json`, HOME: join(built.root, 'person') };
  const server = await spawnServer({ home: built.home, env });
  try {
    const catalog = async () =>
      catalogSchema
        .parse((await server.api('GET', '/plugins/marketplace')).data)
        .entries.find(({ id }) => id === 'story');
    const entry = await catalog();
    expect(entry).toMatchObject({ tier: 'curated', source: `${address}/story.zip` });
    expect(entry).not.toHaveProperty('installed');
    const install = () => server.api('POST', '/plugins', { source: entry?.source });
    expect(await install()).toMatchObject({ code: 0, data: { id: 'story', version: '1.0.0', skillCount: 1 } });
    await isInUse(server, '1.0.0');

    await publish('1.1.0', 'no archive');
    expect(await catalog()).toMatchObject({ installed: { version: '1.0.0' }, updateAvailable: true });
    expect(await install()).toMatchObject({ code: 40001 });
    await isInUse(server, '1.0.0');

    await publish('1.1.0', await zipOf(await filesOf('1.1.0')));
    expect(await install()).toMatchObject({ code: 0, data: { version: '1.1.0' } });
    expect(await catalog()).not.toHaveProperty('updateAvailable');
    await isInUse(server, '1.1.0');

    const talk = await talkOn(server);
    await talk.prompt('Before', done);
    expect(await server.api('POST', '/plugins/story:remove')).toMatchObject({ code: 0 });
    await isGone(server, talk);
    // The copy stays until the next install.
    await expect(readFile(join(built.home, 'plugins/managed/story/service.plugin.json'), 'utf8')).resolves.toContain(
      '1.1.0',
    );
    expect(await catalog()).not.toHaveProperty('installed');
  } finally {
    await server.close();
  }
});

test('from a folder', async () => {
  const folder = join(built.root, 'source');
  for (const [name, text] of Object.entries(await filesOf('2.0.0'))) await putFile(join(folder, name), text);
  const server = await spawnServer({ home: built.home, env: { HOME: join(built.root, 'person') } });
  try {
    expect(await server.api('POST', '/plugins', { source: folder })).toMatchObject({
      code: 0,
      data: { version: '2.0.0' },
    });
    // The copy is the plugin.
    await rm(folder, { recursive: true });
    await isInUse(server, '2.0.0');
    const talk = await talkOn(server);
    await talk.prompt('Before', done);
    await server.api('POST', '/plugins/story:remove');
    await isGone(server, talk);
  } finally {
    await server.close();
  }
});

/** Nothing of the plugin is offered, listed or run, in a conversation of before either. */
async function isGone(server: SpawnedServer, talk: Awaited<ReturnType<typeof talkOn>>): Promise<void> {
  expect(await talk.names()).toEqual([]);
  expect(await talk.activate('story:begin', 'once')).toBe(40415);
  expect(await talk.activate('tale', '')).toBe(40415);
  await talk.prompt('forbidden', done);
  expect(talk.all('hook.result')).toEqual([]);
  await talk.prompt('The tool', [
    { calls: [{ name: 'mcp__plugin-story_told__echo', args: { text: 'cwd' } }] },
    ...done,
  ]);
  expect(talk.all('tool.result').at(-1)).toMatchObject({ isError: true });
  await talk.events.close();
  const other = await talkOn(server);
  await other.prompt('Hello', done);
  expect(lastRequest()).not.toContain('mcp__plugin-story');
  expect(lastRequest()).not.toContain('Tells a tale');
  await other.events.close();
}
