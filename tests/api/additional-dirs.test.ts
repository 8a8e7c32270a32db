/** Additional directories of a workspace: the endpoint, and its effect on loaded sessions. */
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callFate } from '#support/call-fate.ts';
import { eventually } from '#support/patience.ts';
import { startTalk, type Talk, systemPrompt } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
let outside: string;
beforeEach(async () => {
  world = await startWorld();
  outside = join(dirname(world.project), 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'x.txt'), 'from outside\n');
});
afterEach(() => world.close());

const local = () => join(world.project, '.service-code/local.toml');
const heading = () => `Additional directory: ${outside}\n\`\`\`\nx.txt\n\`\`\``;

const add = (talk: Talk, body: unknown) => world.api('POST', `/workspaces/${talk.session.workspace_id}/add-dir`, body);

describe('POST /workspaces/{id}/add-dir', () => {
  test('returns the file and all directories', async () => {
    const talk = await startTalk(world);
    const answer = { project_root: world.project, config_path: local(), additional_dirs: [outside] };
    expect(await add(talk, { path: '../outside' })).toMatchObject({ code: 0, data: { ...answer, persisted: true } });
    expect(await add(talk, { path: outside, persist: false })).toMatchObject({ data: { ...answer, persisted: false } });
  });

  test('checks id, schema, workspace, path, file, in this order', async () => {
    const talk = await startTalk(world);
    const unknown = '/workspaces/wd_x_000000000000/add-dir';
    expect(await world.api('POST', '/workspaces/x/add-dir', {})).toMatchObject({
      code: 40001,
      details: [{ path: 'workspace_id' }],
    });
    expect(await world.api('POST', unknown, { path: '' })).toMatchObject({ code: 40001, details: [{ path: 'path' }] });
    expect(await world.api('POST', unknown, { path: ' ' })).toMatchObject({ code: 40410 });
    await mkdir(dirname(local()));
    await writeFile(local(), 'workspace = 1');
    expect(await add(talk, { path: ' ' })).toMatchObject({ code: 40001, details: [{ path: 'path' }] });
    expect(await add(talk, { path: 'gone' })).toMatchObject({ code: 40409, msg: 'path gone does not exist' });
    expect(await add(talk, { path: 'a.txt' })).toMatchObject({ code: 40409, msg: 'path a.txt is not a directory' });
    const broken = await add(talk, { path: outside });
    expect(broken).toMatchObject({ code: 40001, msg: 'workspace must be a table', data: null });
    expect(broken.details).toBeUndefined();
  });
});

describe.each([true, false])('a directory added to a loaded session, persisted: %s', (persist) => {
  test('applies immediately to reads and writes of every session of the workspace, not of others', async () => {
    const [one, two] = [await startTalk(world), await startTalk(world)];
    const elsewhere = join(dirname(world.project), 'elsewhere');
    await mkdir(elsewhere);
    const other = await startTalk(world, { metadata: { cwd: elsewhere } });
    const file = join(outside, 'x.txt');
    expect(await callFate(one, 'Read', { path: file })).toBe('asked');
    expect(await callFate(two, 'Read', { path: '../outside/x.txt' })).toContain('leads outside the workspace');
    await add(one, { path: outside, persist });
    expect(await callFate(one, 'Read', { path: file })).toContain('from outside');
    expect(await callFate(two, 'Read', { path: '../outside/x.txt' })).toContain('from outside');
    expect(await callFate(two, 'Write', { path: join(outside, 'new.txt'), content: 'x' })).not.toBe('asked');
    expect(await callFate(other, 'Read', { path: file })).toBe('asked');
    // A removed directory loses its permissions.
    await rm(outside, { recursive: true });
    // Polled with a read: before the removal is noticed, a write would be allowed and recreate the directory.
    await eventually(async () => expect(await callFate(one, 'Read', { path: file })).toBe('asked'));
    expect(await callFate(one, 'Write', { path: file, content: 'x' })).toBe('asked');
  });

  test('is in the prompt from the next turn on, and after a restart only if it was persisted', async () => {
    const talk = await startTalk(world);
    await talk.turn('hi', [{ text: 'hi' }]);
    expect(systemPrompt(world)).not.toContain('Additional directory');
    await add(talk, { path: outside, persist });
    await talk.turn('hi', [{ text: 'hi' }]);
    expect(systemPrompt(world)).toContain(heading());
    await talk.turn('hi', [{ text: 'hi' }]);
    await world.restart();
    await world.prompt(talk.session.id, 'hi');
    await eventually(() => expect(world.model.requests).toHaveLength(4));
    expect(systemPrompt(world).includes(heading())).toBe(persist);
  });

  test('is an allowed target of links in file actions', async () => {
    const talk = await startTalk(world);
    await symlink(outside, join(world.project, 'link'));
    const read = async () => (await world.api('POST', `${talk.path}/fs:stat`, { path: 'link/x.txt' })).code;
    expect(await read()).toBe(41304);
    await add(talk, { path: outside, persist });
    expect(await read()).toBe(0);
  });
});

test('a manual edit of the file applies to loaded sessions', async () => {
  const talk = await startTalk(world);
  const file = join(outside, 'x.txt');
  await world.ok('POST', `/workspaces/${talk.session.workspace_id}/trust`);
  expect(await callFate(talk, 'Read', { path: file })).toBe('asked');
  await mkdir(dirname(local()));
  await writeFile(local(), '[workspace]\nadditional_dir = ["../outside"]\n');
  await eventually(async () => expect(await callFate(talk, 'Read', { path: file })).toContain('from outside'));
  await talk.turn('hi', [{ text: 'hi' }]);
  expect(systemPrompt(world)).toContain(heading());
});
