/** Resolves stored media of a session for model requests. */
import { mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createStoredMediaReader, type StoredMediaReader } from '#server/agent/media/stored-media.ts';
import { createLogger } from '#server/logging/log.ts';
import type { ResolvedModel } from '#server/models/types.ts';
import type { VideoUploads } from '#server/models/video-uploads.ts';
import { storedMediaUrl } from '#server/journal/stored-media.ts';
import type { ContextMessage, Part } from '#schema/engine.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const GIF = Buffer.from('GIF89a');
const sees: ResolvedModel = {
  alias: 'm',
  wireName: 'm',
  providerId: 'p',
  providerType: 'native',
  protocol: 'native',
  headers: {},
  capabilities: new Set(['image_in', 'video_in']),
  maxContextTokens: 1000,
  maxInputTokens: 1000,
  supportEfforts: [],
  displayName: 'm',
};
const { signal } = new AbortController();
const noUploads: VideoUploads = {
  addressOf: () => Promise.reject(new Error('nothing is uploaded here')),
  knows: (_model, id) => Promise.resolve(id === 'known'),
};

let dir: string;
let reader: StoredMediaReader;
beforeEach(async () => {
  dir = await temporaryHome();
  await mkdir(join(dir, 'media'));
  reader = createStoredMediaReader({ videos: noUploads, log: createLogger('silent') });
});

async function keep(id: string, bytes: Uint8Array, media_type = 'image/gif'): Promise<string> {
  const path = join(dir, 'media', `${id}.bin`);
  await writeFile(path, bytes);
  const record = { id, name: 'a', media_type, size: bytes.length, file: `${id}.bin` };
  await writeFile(join(dir, 'media', `${id}.meta.json`), JSON.stringify(record));
  return path;
}

const image = (id: string): Part => ({ type: 'image_url', imageUrl: { url: storedMediaUrl(id) } });
const video = (id: string): Part => ({ type: 'video_url', videoUrl: { url: storedMediaUrl(id) } });
const user = (...content: Part[]): ContextMessage => ({ role: 'user', content, toolCalls: [] });
async function one(part: Part, model = sees): Promise<Part | undefined> {
  const [message] = await reader.resolve([user(part)], { sessionDir: dir, model, signal });
  return message?.content[0];
}
const gifUrl = `data:image/gif;base64,${GIF.toString('base64')}`;

it('messages without stored files are returned unchanged', async () => {
  const messages = [user({ type: 'text', text: 'a' }, { type: 'image_url', imageUrl: { url: gifUrl } })];
  expect(await reader.resolve(messages, { sessionDir: dir, model: sees, signal })).toBe(messages);
});

it('keeps the positions of the parts and does not change its input', async () => {
  await keep('f_a', GIF);
  const messages = [user({ type: 'text', text: 'a' }, image('f_a'), { type: 'text', text: 'b' })];
  const [resolved] = await reader.resolve(messages, { sessionDir: dir, model: sees, signal });
  expect(resolved?.content.map(({ type }) => type)).toEqual(['text', 'image_url', 'text']);
  expect(messages[0]?.content[1]).toEqual(image('f_a'));
});

describe('an image', () => {
  it('has the type of its bytes', async () => {
    await keep('f_a', GIF, 'image/png');
    expect(await one(image('f_a'))).toEqual({ type: 'image_url', imageUrl: { url: gifUrl } });
  });

  it('is cached between requests', async () => {
    const path = await keep('f_a', GIF);
    await one(image('f_a'));
    await rm(path);
    expect(await one(image('f_a'))).toEqual({ type: 'image_url', imageUrl: { url: gifUrl } });
    // The cache key contains the session.
    expect(await reader.resolve([user(image('f_a'))], { sessionDir: `${dir}/other`, model: sees, signal })).toEqual([
      user({ type: 'text', text: '[image unavailable: its file is gone]' }),
    ]);
  });

  it('is evicted from a full cache, the least recently used first', async () => {
    const paths: string[] = [];
    const large = Buffer.concat([GIF, Buffer.alloc(7 * 1024 * 1024)]);
    for (let n = 0; n < 8; n += 1) paths.push(await keep(`f_${n}`, large));
    for (let n = 0; n < 6; n += 1) {
      await one(image(`f_${n}`));
      await one(image('f_0'));
    }
    await one(image('f_6'));
    for (const path of paths) await truncate(path, 0);
    expect(await one(image('f_0'))).toMatchObject({ type: 'image_url' });
    expect(await one(image('f_1'))).toMatchObject({ type: 'text' });
  });

  it.each([
    ['that is none', Buffer.from('text')],
    ['above 20 MiB', Buffer.concat([GIF, Buffer.alloc(20 * 1024 * 1024)])],
  ])('%s is named by its path', async (_what, bytes) => {
    const path = await keep('f_a', bytes);
    expect(await one(image('f_a'))).toEqual({ type: 'text', text: `<image path="${path}"></image>` });
  });

  it('with a damaged record is unavailable', async () => {
    await keep('f_a', GIF);
    for (const record of ['{', '{}', '']) {
      await writeFile(join(dir, 'media', 'f_a.meta.json'), record);
      expect(await one(image('f_a'))).toMatchObject({ text: '[image unavailable: its file is gone]' });
    }
  });
});

describe('a video', () => {
  it.each([
    ['native', new Set(['video_in']), false],
    ['google-genai', new Set(['video_in']), true],
    ['anthropic', new Set(['video_in']), false],
    ['openai', new Set(['video_in']), false],
    ['native', new Set(['image_in']), false],
  ] as const)('over %s with %o goes as bytes: %s', async (protocol, capabilities, inline) => {
    const path = await keep('f_v', Buffer.from('film'), 'video/mp4');
    expect(await one(video('f_v'), { ...sees, protocol, capabilities: new Set(capabilities) })).toEqual(
      inline
        ? { type: 'video_url', videoUrl: { url: 'data:video/mp4;base64,ZmlsbQ==' } }
        : { type: 'text', text: `<video path="${path}"></video>` },
    );
  });

  it('that was uploaded to a provider is referenced only for that one', async () => {
    const given = (id: string): Part => ({ type: 'video_url', videoUrl: { url: `provider-file://${id}`, id } });
    expect(await one(given('known'))).toEqual(given('known'));
    expect(await one(given('other'))).toMatchObject({ type: 'text', text: expect.stringContaining('read it again') });
  });
});
