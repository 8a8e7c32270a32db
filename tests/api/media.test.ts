/** Images that are too large for models: in prompts, read by the agent, and their later use. */
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sniffImage } from '#server/files/media-types.ts';
import { parseDataUrl } from '#server/files/data-url.ts';
import { recordEvents } from '#support/event-log.ts';
import { blankPng, GIF, noisyPng, PIXEL, png, pngHead } from '#support/images.ts';
import { sessionFolder } from '#support/session-folder.ts';
import { call, callThenText, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { upload } from '#support/uploads.ts';
import { startWorld, type World } from '#support/world.ts';
import { connect } from '#support/ws-client.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({
    modelRecord: { capabilities: ['tool_use', 'image_in'] },
    models: {
      blind: { model: 'fake-2', capabilities: ['tool_use'] },
      films: { model: 'fake-3', capabilities: ['tool_use', 'video_in'] },
    },
  });
  await writeFile(join(world.project, 'wide.png'), WIDE);
  // The first turn and the first image load are slow on a busy machine, so no test has to wait for them.
  await look(await startTalk(world), [inline(WIDE)]);
});
afterAll(() => world.close());

const WIDE = blankPng(3000, 400);
const text = (value: string) => ({ type: 'text', text: value });
const inline = (bytes: Buffer, media_type = 'image/png') => ({
  type: 'image',
  source: { kind: 'base64', media_type, data: bytes.toString('base64') },
});
const folder = ({ session }: Talk) => sessionFolder(world.server.home, session);
const names = async (talk: Talk, name: string) => (await readdir(join(folder(talk), name)).catch(() => [])).toSorted();
const look = (talk: Talk, content: unknown[], more: Record<string, unknown> = {}) =>
  talk.turn('', [{ text: 'I see.' }], { content, ...more });
const uploaded = (bytes: Buffer, filename = 'wide.png') =>
  upload(world.server, { content: Uint8Array.from(bytes), filename, type: 'image/png' });

/** Width and height of a PNG in a data URL. */
function sizeOf(url: string): string {
  const bytes = Buffer.from(parseDataUrl(url)?.data ?? '', 'base64');
  return sniffImage(bytes) === 'image/png' ? `${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}` : 'no PNG';
}

/** Images of the n-th request, in their order. */
const sentImages = (n: number): string[] =>
  [...JSON.stringify(wireMessages(world, n)).matchAll(/data:image\/[a-z]+;base64,[A-Za-z0-9+/=]+/g)].map(([url]) =>
    sizeOf(url),
  );

describe('a large image of a prompt', () => {
  test.each([
    ['half of it', WIDE.subarray(0, WIDE.length / 2)],
    ['a bomb', png(pngHead(60_000, 60_000), ['IDAT', Buffer.from('x')])],
    ['a GIF', GIF],
  ])('is unchanged if it cannot be reduced: %s', async (_what, bytes) => {
    const talk = await startTalk(world);
    const { prompt, ended } = await look(talk, [inline(bytes)]);
    expect(prompt.content).toMatchObject([{ source: { data: bytes.toString('base64') } }]);
    expect([ended.reason, await names(talk, 'media-originals')]).toEqual(['completed', []]);
  });

  test('is reduced, the original is stored, and the model is informed; undo reverts both messages', async () => {
    const talk = await startTalk(world);
    await look(talk, [text('before')]);
    const { prompt, frames } = await look(talk, [text('look'), inline(WIDE)]);
    const [, shown] = prompt.content;
    const source = shown?.type === 'image' && shown.source.kind === 'base64' ? shown.source : expect.unreachable();
    expect(sizeOf(`data:${source.media_type};base64,${source.data}`)).toBe('2000x267');
    expect(sentImages(-1)).toEqual(['2000x267']);

    const [original = ''] = await names(talk, 'media-originals');
    const path = join(folder(talk), 'media-originals', original);
    expect(await readFile(path)).toEqual(WIDE);
    const said = new RegExp(`from image/png, 3000x400 pixels, ${WIDE.length} bytes, to image/png, 2000x267 pixels`);
    const [caption, asked] = wireMessages(world, -1).slice(-2);
    expect(caption && wireText(caption)).toMatch(said);
    expect(caption && wireText(caption)).toContain(path);
    expect(asked && wireText(asked)).toBe('look');
    const messages = await talk.messages();
    expect(messages.at(-3)?.metadata).toEqual({
      origin: { kind: 'injection', variant: 'image_compression', ownerPromptId: prompt.prompt_id },
    });
    expect(frames.find(({ type }) => type === 'turn.started')?.payload.prompt).toBe('look');
    const page = (await world.ok('GET', `${talk.path}/transcript?agent_id=main`)) as { attachments: unknown[] };
    expect(page.attachments).toMatchObject([{ mediaType: 'image/png' }]);

    await world.ok('POST', `${talk.path}:undo`, {});
    await look(talk, [text('after')]);
    const rest = wireMessages(world, -1).filter(({ role }) => role === 'user');
    expect(rest.map(wireText).filter((one) => !one.includes("Today's date"))).toEqual(['before', 'after']);
  });

  test('that was uploaded becomes session media under a new id, a single time; other images are unchanged', async () => {
    const talk = await startTalk(world);
    const [wide, small] = [await uploaded(WIDE), await uploaded(PIXEL, 'dot.png')];
    const content = [wide, small].map(({ id }) => ({ type: 'image', source: { kind: 'file', file_id: id } }));
    const { prompt } = await look(talk, content);
    const ids = prompt.content.map((part) =>
      part.type === 'image' && part.source.kind === 'session_media' ? part.source.file_id : '',
    );
    expect(ids).toEqual([expect.stringMatching(/^f_[0-9a-f]{32}$/), small.id]);
    expect(ids[0]).not.toBe(wide.id);
    expect(sentImages(-1)).toEqual(['2000x267', '1x1']);
    const kept = ids.flatMap((id) => [`${id}.meta.json`, `${id}.png`]).toSorted();
    expect(await names(talk, 'media')).toEqual(kept);
    await look(talk, content);
    expect([await names(talk, 'media'), (await names(talk, 'media-originals')).length]).toEqual([kept, 1]);
    await world.ok('DELETE', `/files/${wide.id}`);
    await look(talk, [{ type: 'image', source: { kind: 'session_media', file_id: ids[0] } }]);
    expect(sentImages(-1)).toEqual(['2000x267', '1x1', '2000x267', '1x1', '2000x267']);
    const answer = await world.server.fetch(`/api/v1${talk.path}/media/${ids[0]}`);
    expect([answer.headers.get('content-type'), answer.headers.get('content-disposition')]).toEqual([
      'image/png',
      'inline; filename="wide.png"',
    ]);

    // A fork copies the media; a compaction keeps images with their messages.
    const { id } = (await world.ok('POST', `${talk.path}:fork`, {})) as { id: string };
    const copy = await startTalk(world, undefined);
    await copy.events.close();
    const forked = await world.watch(id);
    world.model.enqueue({ text: 'I still see.' });
    await world.prompt(id, 'and now?');
    await forked.waitFor(({ type }) => type === 'prompt.completed');
    expect(sentImages(-1)).toHaveLength(5);
    world.model.enqueue({ text: 'They looked at images.' });
    await world.ok('POST', `/sessions/${id}:compact`, {});
    await forked.waitFor(({ type }) => type === 'compaction.completed');
    world.model.enqueue({ text: 'Yes.' });
    await world.prompt(id, 'still there?');
    await forked.waitFor(({ type, payload }) => type === 'turn.ended' && payload.turnId === 4);
    expect(sentImages(-1)).toHaveLength(5);
    expect(JSON.stringify(wireMessages(world, -1))).not.toContain('made smaller');
  });

  test('of a prompt that cannot be stored leaves no files', async () => {
    const talk = await startTalk(world);
    const note = await upload(world.server);
    await mkdir(join(folder(talk), 'attachments', `${note.id}-a.txt`, 'x'), { recursive: true });
    const wide = await uploaded(WIDE);
    const content = [
      inline(WIDE),
      { type: 'image', source: { kind: 'file', file_id: wide.id } },
      { type: 'file', file_id: note.id, name: '', media_type: 'x/y', size: 0 },
    ];
    expect(await world.api('POST', `${talk.path}/prompts`, { content })).toMatchObject({ code: 50003 });
    expect([await names(talk, 'media'), await names(talk, 'media-originals')]).toEqual([[], []]);
  });

  test('that is steered in follows its caption, and is undone with it', async () => {
    const talk = await startTalk(world);
    const { release } = world.model.enqueue({ calls: [call('Read', { path: 'a.txt' })], hold: true });
    await world.prompt(talk.session.id, 'first');
    const submit = (prompt_id: string, content: unknown[]) =>
      world.ok('POST', `${talk.path}/prompts`, { content, prompt_id });
    await submit('p1', [text('one'), inline(WIDE)]);
    await submit('p2', [text('two'), inline(blankPng(400, 3000))]);
    await world.ok('POST', `${talk.path}/prompts:steer`, { prompt_ids: ['p1', 'p2'] });
    world.model.enqueue({ text: 'I see both.' });
    release();
    await talk.nth('turn.ended', 1);
    expect(sentImages(-1)).toEqual(['2000x267', '267x2000']);
    const texts = wireMessages(world, -1).slice(-3).map(wireText);
    expect(texts).toEqual([expect.stringContaining('3000x400'), expect.stringContaining('400x3000'), 'onetwo']);
    await world.ok('POST', `${talk.path}:undo`, {});
    await look(talk, [text('after')]);
    expect(JSON.stringify(wireMessages(world, -1))).not.toContain('made smaller');
  });
});

describe('ReadMediaFile', () => {
  const read = async (talk: Talk, args: Record<string, unknown>) => {
    const { frames } = await talk.turn('go', callThenText('ReadMediaFile', args), { permission_mode: 'manual' });
    const payload = frames.find(({ type }) => type === 'tool.result')?.payload ?? {};
    return { output: payload.output, isError: payload.isError === true };
  };
  /** Text that accompanies the image for the model. */
  const told = () =>
    wireMessages(world, -1)
      .filter(({ role }) => role === 'tool')
      .map(wireText)
      .at(-1);

  test('reduces an image and describes the original; clients see it in the result, the transcript and the messages', async () => {
    const talk = await startTalk(world);
    const client = await connect(world.server);
    await client.send({ type: 'subscribe', payload: { session_ids: [talk.session.id] } });
    const recorder = recordEvents(client, { masks: { [world.project]: '<project>' } });
    const path = join(world.project, 'wide.png');
    const { output } = await read(talk, { path: 'wide.png' });
    const parts = [
      text(`<image path="${path}">`),
      { type: 'image_url', imageUrl: { url: expect.stringMatching(/^data:image\/png;base64,/) } },
      text('</image>'),
    ];
    expect(output).toEqual(parts);
    expect(sentImages(-1)).toEqual(['2000x267']);
    expect(told()).toContain(`image/png, ${WIDE.length} bytes, 3000x400 pixels. Shown as image/png, `);
    const { content } = (await talk.messages()).at(-2) ?? {};
    expect(content).toMatchObject([{ type: 'tool_result', output: parts }]);
    const page = JSON.stringify(await world.ok('GET', `${talk.path}/transcript?agent_id=main`));
    expect(page).toContain('data:image/png;base64,');
    expect(talk.all('event.approval.requested')).toEqual([]);
    expect(talk.all('tool.call.started')[0]?.payload).toMatchObject({
      description: 'Reading media: wide.png',
      display: { kind: 'file_io', operation: 'read', path },
    });
    const log = (await recorder.text()).replace(/base64,[A-Za-z0-9+/=]+/g, 'base64,<bytes>');
    await expect(log).toMatchFileSnapshot('golden/read-media-file.txt');
    await client.close();
  });

  test('returns a region at full resolution, and the whole image where it is small enough', async () => {
    const talk = await startTalk(world);
    await read(talk, { path: 'wide.png', region: { x: 2500, y: 100, width: 900, height: 200 } });
    expect([sentImages(-1).at(-1), told()]).toEqual([
      '500x200',
      expect.stringContaining('The region at x 2500, y 100, 500x200 pixels, is shown as image/png'),
    ]);
    await read(talk, { path: 'wide.png', full_resolution: true });
    expect(sentImages(-1).at(-1)).toBe('3000x400');
    await writeFile(join(world.project, 'noise.png'), noisyPng(1400, 1000));
    expect(await read(talk, { path: 'noise.png', full_resolution: true })).toMatchObject({
      isError: true,
      output: expect.stringContaining('at full resolution. Read a region, or leave full_resolution out.'),
    });
    expect((await read(talk, { path: 'noise.png' })).isError).toBe(false);
    expect(told()).toContain('Shown as image/jpeg');
  });

  test('advises what to do with files that it cannot show', async () => {
    const talk = await startTalk(world);
    const outside = join(world.server.home, 'outside.png');
    await writeFile(outside, PIXEL);
    await symlink(outside, join(world.project, 'link.png'));
    await mkdir(join(world.project, 'folder'), { recursive: true });
    const files: [name: string, bytes: Buffer | undefined, says: string][] = [
      ['a.svg', Buffer.from('<svg/>'), 'rsvg-convert'],
      ['a.heic', Buffer.from('\0\0\0\x18ftypheic'), 'is image/heic, which models do not take. Convert it to PNG'],
      ['a.pdf', Buffer.from('%PDF-1.7'), 'pdftoppm'],
      ['a.mp3', Buffer.from('ID3'), 'Audio cannot be shown'],
      ['a.mp4', Buffer.from('\0\0\0\x18ftypmp42'), 'is video/mp4; this model takes no videos'],
      ['text.png', Buffer.from('no image'), 'is neither an image nor a video. Use Read for text.'],
      ['half.png', WIDE.subarray(0, WIDE.length / 2), 'is damaged'],
      ['bomb.png', png(pngHead(60_000, 60_000), ['IDAT', Buffer.from('x')]), 'too many pixels'],
      ['empty.png', Buffer.alloc(0), 'is empty'],
      ['gone.png', undefined, 'does not exist'],
      ['folder', undefined, 'is a directory'],
      ['link.png', undefined, 'leads outside the workspace'],
      ['.env', PIXEL, 'sensitive'],
    ];
    for (const [name, bytes] of files) if (bytes) await writeFile(join(world.project, name), bytes);
    const calls = files.map(([path]) => call('ReadMediaFile', { path }));
    const { frames } = await talk.turn('go', [{ calls }, { text: 'ok' }]);
    const results = frames.filter(({ type }) => type === 'tool.result').map(({ payload }) => payload);
    const started = frames.filter(({ type }) => type === 'tool.call.started').map(({ payload }) => payload.toolCallId);
    for (const [at, [name, , says]] of files.entries()) {
      const result = results.find(({ toolCallId }) => toolCallId === started[at]);
      expect({ name, ...result }).toMatchObject({ name, isError: true, output: expect.stringContaining(says) });
    }
    expect((await read(talk, { path: 'wide.png', region: { x: 3000, y: 0, width: 1, height: 1 } })).output).toContain(
      'begins outside the image, which is 3000x400 pixels',
    );
    expect((await read(talk, { path: 'wide.png', region: { x: -1, y: 0, width: 0, height: 1 } })).output).toMatch(
      /region\.x: .*region\.width: /,
    );
  });

  test('needs approval outside the workspace', async () => {
    const talk = await startTalk(world);
    const path = join(world.server.home, '..', 'elsewhere.png');
    await writeFile(path, PIXEL);
    await talk.prompt('go', callThenText('ReadMediaFile', { path }));
    const { approval_id, tool_name } = await talk.approval();
    expect(tool_name).toBe('ReadMediaFile');
    await talk.answer(approval_id, { decision: 'approved' });
    await talk.nth('turn.ended', 1);
    expect(sentImages(-1)).toEqual(['1x1']);
  });

  test('is offered only while the model accepts images', async () => {
    const talk = await startTalk(world);
    const offered = () => JSON.stringify(world.model.requests.at(-1)?.body.tools).includes('"ReadMediaFile"');
    const listed = async () =>
      JSON.stringify(await world.ok('GET', `/tools?session_id=${talk.session.id}`)).includes('"ReadMediaFile"');
    const seen: boolean[] = [];
    for (const model of ['fake/fake-1', 'blind', 'fake/fake-1']) {
      await talk.turn('go', [{ text: 'ok' }], { model });
      seen.push(offered(), await listed());
    }
    expect(seen).toEqual([true, true, false, false, true, true]);
  });

  test('returns its image even after two requests that were too large', async () => {
    const talk = await startTalk(world);
    const tooLarge = { status: 413, error: 'Request entity too large' };
    const calls = [call('ReadMediaFile', { path: 'wide.png' })];
    const images = ['a', 'b', 'c'].map(() => inline(PIXEL));
    await talk.turn('', [tooLarge, tooLarge, { calls }, { text: 'ok' }], { content: images });
    expect([-4, -3, -2, -1].map((n) => sentImages(n).length)).toEqual([3, 2, 0, 1]);
    expect(sentImages(-1)).toEqual(['2000x267']);
  });
});

describe('a video', () => {
  const FILM = Buffer.from('\0\0\0\x18ftypmp42 a film', 'latin1');
  const films = { model: 'films' };
  const sentVideos = () =>
    [...JSON.stringify(wireMessages(world, -1)).matchAll(/provider-file:\/\/[\w-]+/g)].map(String);
  const filmed = async (talk: Talk) => {
    const { id } = await upload(world.server, { content: Uint8Array.from(FILM), filename: 'f.mp4', type: 'video/mp4' });
    const content = [{ type: 'video', source: { kind: 'file', file_id: id } }];
    return {
      content,
      tag: `<video path="${join(folder(talk), 'media', `${id}.mp4`)}"></video>`.replaceAll('"', '\\"'),
    };
  };

  test('of a prompt is uploaded to the provider a single time, and referenced by its id', async () => {
    const talk = await startTalk(world);
    const before = world.model.files.length;
    const { content } = await filmed(talk);
    await look(talk, content, films);
    const id = `file-${before + 1}`;
    expect(sentVideos()).toEqual([`provider-file://${id}`]);
    const [body = ''] = world.model.files.slice(before);
    expect(body).toMatch(/name="purpose"\r\n\r\nvideo\r\n/);
    expect(body).toContain('a film');
    await world.restart();
    world.model.enqueue({ text: 'Still.' });
    await world.prompt(talk.session.id, 'and now?');
    await expect.poll(() => sentVideos()).toEqual([`provider-file://${id}`]);
    expect(world.model.files).toHaveLength(before + 1);
  });

  test('that the provider refuses is named by its path, and retried; without a key the turn fails', async () => {
    const talk = await startTalk(world);
    const { content, tag } = await filmed(talk);
    world.model.refuseFile(500);
    expect((await look(talk, content, films)).ended.reason).toBe('completed');
    expect(JSON.stringify(wireMessages(world, -1))).toContain(tag);
    world.model.refuseFile(401);
    const { ended } = await talk.turn('again');
    expect(ended).toMatchObject({ reason: 'failed', error: { code: 'provider.auth_error' } });
    await talk.turn('and again', [{ text: 'I see.' }]);
    expect(sentVideos()).toHaveLength(1);
  });

  test('of the project is referenced by its id, and omitted for a model of another kind', async () => {
    const talk = await startTalk(world);
    await writeFile(join(world.project, 'film.mp4'), FILM);
    const calls = [
      call('ReadMediaFile', { path: 'film.mp4' }),
      call('ReadMediaFile', { path: 'film.mp4', full_resolution: true }),
      call('ReadMediaFile', { path: 'wide.png' }),
    ];
    const before = world.model.files.length;
    const { frames } = await talk.turn('go', [{ calls }, { text: 'ok' }], films);
    const outputs = frames.filter(({ type }) => type === 'tool.result').map(({ payload }) => payload.output);
    const id = `file-${before + 1}`;
    expect(outputs).toContainEqual([
      text(`<video path="${join(world.project, 'film.mp4')}">`),
      { type: 'video_url', videoUrl: { url: `provider-file://${id}`, id } },
      text('</video>'),
    ]);
    expect(outputs).toContain('region and full_resolution are for images.');
    expect(outputs).toContain('wide.png is image/png; this model takes no images.');
    expect(sentVideos()).toEqual([`provider-file://${id}`]);
    await talk.turn('go on', [{ text: 'ok' }], { model: 'blind' });
    expect([sentVideos(), JSON.stringify(wireMessages(world, -1)).includes('video left out')]).toEqual([[], true]);
  });
});
