import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ContentPart } from '#schema/rest/content.ts';
import { createImages } from '#server/images/images.ts';
import { storePromptMedia as store } from '#server/sessions/requests/prompt-content.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';

const images = createImages({ settings: () => ({}) });

/** Stores the media of a prompt without uploads. */
const storePromptMedia = (content: ContentPart[], sessionDir: string) =>
  store(content, {
    sessionDir,
    images,
    uploads: { open: () => Promise.resolve(undefined), copy: () => Promise.resolve(undefined) },
  });

const svg = (text: string): ContentPart => ({
  type: 'image',
  source: { kind: 'base64', media_type: 'image/svg+xml', data: Buffer.from(text).toString('base64') },
});
const nameOf = (text: string) => `${createHash('sha256').update(text).digest('hex').slice(0, 32)}-image.svg`;

describe('images that no model accepts', () => {
  it('are stored under the hash of their bytes, equal ones once', async () => {
    const dir = await temporaryDirectory();
    const { content, parts, text, attachments } = await storePromptMedia([svg('<a/>'), svg('<a/>'), svg('<b/>')], dir);
    expect((await readdir(join(dir, 'attachments'))).toSorted()).toEqual([nameOf('<a/>'), nameOf('<b/>')].toSorted());
    expect(await readFile(join(dir, 'attachments', nameOf('<b/>')), 'utf8')).toBe('<b/>');
    expect(content.map(({ type }) => type)).toEqual(['text', 'text', 'text']);
    expect(parts).toEqual(content);
    expect(text).toContain(nameOf('<a/>'));
    expect(attachments).toEqual([]);
  });

  it('are removed again when the prompt cannot be stored; those of earlier prompts stay', async () => {
    const dir = await temporaryDirectory();
    await storePromptMedia([svg('<old/>')], dir);
    // A folder at the path of the third file.
    await mkdir(join(dir, 'attachments', nameOf('<c/>'), 'x'), { recursive: true });
    const failing = storePromptMedia([svg('<old/>'), svg('<b/>'), svg('<c/>')], dir);
    await expect(failing).rejects.toMatchObject({ code: 50003 });
    expect((await readdir(join(dir, 'attachments'))).toSorted()).toEqual([nameOf('<old/>'), nameOf('<c/>')].toSorted());
  });
});

it('no file is written for a prompt without files', async () => {
  const dir = await temporaryDirectory();
  const url = 'https://example.com/clip.mp4';
  const input = await storePromptMedia(
    [
      { type: 'text', text: 'a' },
      { type: 'video', source: { kind: 'url', url } },
      { type: 'video', source: { kind: 'base64', media_type: 'video/mp4', data: 'AAAA' } },
      { type: 'thinking', thinking: 'dropped' },
    ],
    dir,
  );
  expect(await readdir(dir)).toEqual([]);
  expect(input.parts).toEqual([
    { type: 'text', text: 'a' },
    { type: 'video_url', videoUrl: { url } },
    { type: 'video_url', videoUrl: { url: 'data:video/mp4;base64,AAAA' } },
  ]);
  expect(input.eventContent.at(-1)).toEqual({ type: 'text', text: '[video]' });
  expect(input.attachments).toEqual([
    { mediaType: 'video/*', source: { kind: 'url', url } },
    { mediaType: 'video/mp4' },
  ]);
});
