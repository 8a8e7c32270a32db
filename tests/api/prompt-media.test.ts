/** Uploads in prompts: the checks, the stored and displayed forms, the model's view, and their lifetime. */
import { lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sessionFolder } from '#support/session-folder.ts';
import { callThenText, resumeTalk, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { upload } from '#support/uploads.ts';
import { startWorld, type World } from '#support/world.ts';
import type { Upload } from '#schema/rest/upload.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const PNG_URL = `data:image/png;base64,${PNG.toString('base64')}`;
const text = (value: string) => ({ type: 'text', text: value });
const media = (type: string, kind: string, file_id: string) => ({ type, source: { kind, file_id } });
const filePart = (file_id: string) => ({ type: 'file', file_id, name: '', media_type: 'x/y', size: 0 });

let world: World;
beforeAll(async () => {
  world = await startWorld({
    modelRecord: { capabilities: ['tool_use', 'image_in'] },
    models: {
      blind: { model: 'fake-2', capabilities: ['tool_use'] },
      films: { model: 'fake-3', capabilities: ['tool_use', 'image_in', 'video_in'] },
    },
  });
});
afterAll(() => world.close());

const png = (filename = 'a.png') => upload(world.server, { content: new Uint8Array(PNG), filename, type: 'image/png' });
const submit = (sessionId: string, content: unknown[], more: Record<string, unknown> = {}) =>
  world.api('POST', `/sessions/${sessionId}/prompts`, { content, ...more });
const folder = ({ session }: Talk) => sessionFolder(world.server.home, session);
const names = async (talk: Talk, name: string) => (await readdir(join(folder(talk), name)).catch(() => [])).toSorted();
const mediaPath = (talk: Talk, id: string) => `/api/v1${talk.path}/media/${id}`;
/** Content of the first user message of the last model request. */
const sent = () => wireMessages(world, -1).find(({ role }) => role === 'user')?.content;
const removeUpload = (id: string) => world.ok('DELETE', `/files/${id}`);

async function turn(talk: Talk, content: unknown[], more: Record<string, unknown> = {}) {
  return talk.turn('', [{ text: 'I see.' }], { content, ...more });
}

describe('the checks', () => {
  test('refuse a file of another kind, in the order of the parts, before the session is looked up', async () => {
    const note = await upload(world.server);
    const image = await png();
    const cases: [unknown[], string][] = [
      [[media('image', 'file', note.id)], `file ${note.id} is text/plain, not an image`],
      [[media('video', 'file', image.id)], `file ${image.id} is image/png, not a video`],
      [[filePart('f_none'), media('image', 'file', note.id)], 'file not found: f_none'],
      [[media('image', 'file', '../../server.token')], 'file not found: ../../server.token'],
      [[filePart('f_a/../../x')], 'file not found: f_a/../../x'],
    ];
    for (const [content, msg] of cases) {
      expect(await submit('session_none', content)).toMatchObject({ status: 200, code: 40407, msg });
    }
    expect(await submit('session_none', [filePart(note.id)])).toMatchObject({ code: 40401 });
  });

  test('refuse an unused upload as session media, and media of another session', async () => {
    const image = await png();
    const [talk, other] = [await startTalk(world), await startTalk(world)];
    await turn(other, [media('image', 'file', image.id)]);
    for (const id of [image.id, '..', '../media/x', 'f_../x']) {
      const refused = await submit(talk.session.id, [media('image', 'session_media', id)]);
      expect(refused).toMatchObject({ code: 40407, msg: `file not found: ${id}` });
    }
    expect(await names(talk, 'media')).toEqual([]);
  });

  test('store nothing of a refused prompt', async () => {
    const image = await png();
    const talk = await startTalk(world);
    expect(await submit(talk.session.id, [media('image', 'file', image.id)], { model: 'gone' })).toMatchObject({
      code: 40113,
    });
    expect([await names(talk, 'media'), await names(talk, 'attachments')]).toEqual([[], []]);
  });

  test('report storage failures as storage errors, and remove the stored parts', async () => {
    const [image, note] = [await png(), await upload(world.server)];
    const talk = await startTalk(world);
    // A folder blocks the path of the attachment.
    await mkdir(join(folder(talk), 'attachments', `${note.id}-a.txt`, 'x'), { recursive: true });
    expect(await submit(talk.session.id, [media('image', 'file', image.id), filePart(note.id)])).toMatchObject({
      code: 50003,
    });
    expect(await names(talk, 'media')).toEqual([]);
    expect(await names(talk, 'attachments')).toEqual([`${note.id}-a.txt`]);
  });
});

describe('an uploaded image', () => {
  test('is session media in all replies and events, and is sent to the model', async () => {
    const image = await png('ünï.png');
    const talk = await startTalk(world);
    const { prompt, frames } = await turn(talk, [text('look'), media('image', 'file', image.id)]);
    const shown = [text('look'), media('image', 'session_media', image.id)];
    expect(prompt.content).toEqual(shown);
    expect(frames.find(({ type }) => type === 'prompt.submitted')?.payload.content).toEqual(shown);
    expect((await talk.messages())[0]?.content).toEqual(shown);
    expect(sent()).toEqual([text('look'), { type: 'image_url', image_url: { url: PNG_URL } }]);

    const page = (await world.ok('GET', `${talk.path}/transcript?agent_id=main`)) as { attachments: unknown[] };
    expect(page.attachments).toEqual([
      {
        attachmentId: expect.any(String),
        mediaType: 'image/png',
        name: 'ünï.png',
        size: PNG.length,
        source: { kind: 'session_media', fileId: image.id },
      },
    ]);
    // `context.spliced` contains the engine's own messages.
    const events = frames.filter(({ type }) => type !== 'context.spliced');
    expect(JSON.stringify([prompt, events, await talk.messages(), page])).not.toContain('service-file');
  });

  test('is stored in the session: it survives deletion and restart, and can be referenced again', async () => {
    const image = await png();
    const talk = await startTalk(world);
    await turn(talk, [media('image', 'file', image.id)]);
    expect(await names(talk, 'media')).toEqual([`${image.id}.meta.json`, `${image.id}.png`]);
    expect((await lstat(join(folder(talk), 'media', `${image.id}.png`))).mode & 0o077).toBe(0);
    await removeUpload(image.id);
    await world.restart();
    expect(await submit(talk.session.id, [media('image', 'file', image.id)])).toMatchObject({ code: 40407 });

    const later = await resumeTalk(world, talk.session);
    await turn(later, [media('image', 'session_media', image.id)]);
    const requested = wireMessages(world, -1).filter(({ role }) => role === 'user');
    expect(JSON.stringify(requested).split(PNG_URL)).toHaveLength(3);

    const answer = await world.server.fetch(mediaPath(talk, image.id));
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(PNG);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-disposition': 'inline; filename="a.png"',
      etag: `"${talk.session.id}-${image.id}-${PNG.length}"`,
      'x-content-type-options': 'nosniff',
    });
    const part = await world.server.fetch(mediaPath(talk, image.id), {
      headers: { range: 'bytes=1-3', 'if-none-match': '*' },
    });
    expect([part.status, await part.text()]).toEqual([206, 'PNG']);
  });

  test('may be in any number of prompts and sessions; each session stores one copy', async () => {
    const image = await png();
    for (const talk of [await startTalk(world), await startTalk(world)]) {
      const twice = [media('image', 'file', image.id), media('image', 'file', image.id)];
      await turn(talk, twice);
      await turn(talk, twice);
      expect(await names(talk, 'media')).toHaveLength(2);
    }
  });

  test('is session media while its prompt is queued', async () => {
    const image = await png();
    const talk = await startTalk(world);
    const { release } = world.model.enqueue({ text: 'a', hold: true });
    await world.prompt(talk.session.id, 'first');
    const queued = await submit(talk.session.id, [media('image', 'file', image.id)]);
    const shown = [media('image', 'session_media', image.id)];
    expect(queued).toMatchObject({ code: 0, data: { status: 'queued', content: shown } });
    expect(await world.ok('GET', `${talk.path}/prompts`)).toMatchObject({ queued: [{ content: shown }] });
    await removeUpload(image.id);
    world.model.enqueue({ text: 'b' });
    release();
    await talk.nth('prompt.completed', 2);
    expect(JSON.stringify(wireMessages(world, -1))).toContain(PNG_URL);
  });

  test('is named by its path for a model without image input', async () => {
    const image = await png();
    const talk = await startTalk(world);
    await turn(talk, [media('image', 'file', image.id)], { model: 'blind' });
    const path = join(folder(talk), 'media', `${image.id}.png`);
    expect(wireText({ role: 'user', content: sent() })).toBe(`<image path="${path}"></image>`);
  });

  test('whose file is missing, or is a link, is reported as unavailable, and the turn continues', async () => {
    const image = await png();
    const talk = await startTalk(world);
    await turn(talk, [media('image', 'file', image.id)]);
    const path = join(folder(talk), 'media', `${image.id}.png`);
    const secret = join(world.server.home, 'secret.png');
    await writeFile(secret, PNG);
    await rm(path);
    await world.restart();
    const second = await resumeTalk(world, talk.session);
    await turn(second, [text('again')]);
    expect(JSON.stringify(wireMessages(world, -1))).toContain('[image unavailable: its file is gone]');
    expect((await world.server.fetch(mediaPath(talk, image.id))).status).toBe(200);

    await symlink(secret, path);
    await removeUpload(image.id);
    expect(await world.api('GET', mediaPath(talk, image.id))).toMatchObject({ status: 404, code: 40407 });
    await turn(second, [text('and again')]);
    expect(second.all('turn.ended').at(-1)?.payload.reason).toBe('completed');
    await rm(secret);
  });

  test('of a type that no model accepts becomes an attached file', async () => {
    const svg = await upload(world.server, { content: '<svg/>', filename: 'a.svg', type: 'image/svg+xml' });
    const talk = await startTalk(world);
    const { prompt } = await turn(talk, [media('image', 'file', svg.id)]);
    const path = join(folder(talk), 'attachments', `${svg.id}-a.svg`);
    expect(prompt.content).toEqual([
      text(`Attached file "a.svg" (image/svg+xml, 6 bytes): ${path} — this image type cannot be shown to the model.`),
    ]);
    expect(await readFile(path, 'utf8')).toBe('<svg/>');
    const answer = await world.server.fetch(mediaPath(talk, svg.id));
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="a.svg"');
  });
});

describe('an uploaded video', () => {
  const film = () => upload(world.server, { content: '\0\0\0\u0018ftypmp42', filename: 'f.mp4', type: 'video/mp4' });

  test('is session media, and a path for models without video input', async () => {
    const { id } = await film();
    const talk = await startTalk(world);
    const { prompt } = await turn(talk, [media('video', 'file', id)]);
    expect(prompt.content).toEqual([media('video', 'session_media', id)]);
    const path = join(folder(talk), 'media', `${id}.mp4`);
    expect(wireText({ role: 'user', content: sent() })).toBe(`<video path="${path}"></video>`);
  });
});

describe('a file part', () => {
  const attach = async (given: Parameters<typeof upload>[1]) => {
    const file = await upload(world.server, given);
    const talk = await startTalk(world);
    return { file, talk, ...(await turn(talk, [filePart(file.id)])) };
  };
  const pathOf = (talk: Talk, { id }: Upload, name: string) => join(folder(talk), 'attachments', `${id}-${name}`);

  test('becomes text with the stored path, and an attachment with its bytes', async () => {
    const { file, talk, prompt } = await attach({ content: 'notes', filename: 'n.md', type: 'text/markdown' });
    const path = pathOf(talk, file, 'n.md');
    expect(prompt.content).toEqual([text(`Attached file "n.md" (text/markdown, 5 bytes): ${path}`)]);
    await removeUpload(file.id);
    expect(await readFile(path, 'utf8')).toBe('notes');
    expect(await (await world.server.fetch(mediaPath(talk, file.id))).text()).toBe('notes');
  });

  test('can be read by the agent without approval', async () => {
    const file = await upload(world.server, { content: 'notes', filename: 'n.md' });
    const talk = await startTalk(world);
    const path = pathOf(talk, file, 'n.md');
    const scripts = callThenText('Read', { path });
    const { results } = await talk.turn('', scripts, { content: [filePart(file.id)] });
    expect(results).toEqual([expect.objectContaining({ output: expect.stringContaining('notes'), isError: false })]);
  });

  test.each([
    ['../../etc/passwd', '_.._etc_passwd'],
    ['a/b\\c', 'a_b_c'],
    ['...hidden', 'hidden'],
    ['a\u0000b\u001bc\nd', 'abcd'],
    ['...', 'attachment'],
    ['x'.repeat(300), 'x'.repeat(100)],
    ['中'.repeat(100), '中'.repeat(66)],
  ])('named %j is stored under a safe name', async (name, safe) => {
    const { file, talk, prompt } = await attach({ fields: { name } });
    expect(await names(talk, 'attachments')).toEqual([`${file.id}-${safe}`]);
    const [shown] = prompt.content;
    // eslint-disable-next-line no-control-regex
    expect(shown?.type === 'text' && shown.text).not.toMatch(/[\u0000-\u001f]/);
  });
});

describe('media of a session', () => {
  test('fall back to uploads until a prompt references them', async () => {
    const image = await png();
    const talk = await startTalk(world);
    expect((await world.server.fetch(mediaPath(talk, image.id))).status).toBe(200);
    await removeUpload(image.id);
    expect(await world.api('GET', mediaPath(talk, image.id))).toMatchObject({
      status: 404,
      code: 40407,
      msg: 'file not found',
    });
  });

  test.each(['f_none', '..%2f..%2fserver.token', '..%2f', 'state.json', 'f_a%00'])('%s is not found', async (id) => {
    const talk = await startTalk(world);
    expect(await world.api('GET', `/api/v1${talk.path}/media/${id}`)).toMatchObject({ status: 404, code: 40407 });
  });

  test('of an unknown session are not found', async () => {
    expect(await world.api('GET', '/sessions/session_none/media/f_1')).toMatchObject({
      status: 404,
      code: 40401,
      msg: 'session not found',
    });
  });

  test('a record cannot reference a file outside the folder', async () => {
    const image = await png();
    const talk = await startTalk(world);
    await turn(talk, [media('image', 'file', image.id)]);
    const record = join(folder(talk), 'media', `${image.id}.meta.json`);
    const forged = (await readFile(record, 'utf8')).replace(`${image.id}.png`, '../../../../server.token');
    await writeFile(`${record}.new`, forged);
    await rename(`${record}.new`, record);
    await removeUpload(image.id);
    expect(await world.api('GET', mediaPath(talk, image.id))).toMatchObject({ status: 404, code: 40407 });
  });
});
