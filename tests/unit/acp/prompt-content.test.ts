/** Prompts of an editor in the form of the API. */
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { describe, expect, it } from 'vitest';
import { contentOf } from '../../../clients/acp/prompt-content.ts';

const CWD = '/home/u/project';
const textOf = (...blocks: ContentBlock[]) =>
  contentOf(blocks, CWD).map((part) => (part.type === 'text' ? part.text : part.type));
const link = (uri: string, name = 'name'): ContentBlock => ({ type: 'resource_link', uri, name });

describe('contentOf', () => {
  it.each([
    ['file:///home/u/project/src/a.ts', '@src/a.ts'],
    ['file:///home/u/project', '@./'],
    ['file:///home/u/project/', '@./'],
    ['file:///home/u/project/..a', '@..a'],
    ['file:///home/u/project/a%20b.ts#L10:20', '@a b.ts (L10:20)'],
    ['file:///home/u/other/a.ts', '@/home/u/other/a.ts'],
    ['file:///home/u/project-b/a.ts', '@/home/u/project-b/a.ts'],
    ['file:///home/u/project/../a.ts', '@/home/u/a.ts'],
    ['FILE:///home/u/project/a.ts', '@a.ts'],
    ['file://elsewhere/a.ts', '[name](file://elsewhere/a.ts)'],
    ['https://example.com/a', '[name](https://example.com/a)'],
    ['zed:///thread/1', '[name](zed:///thread/1)'],
    ['file:///a%2Fb', '[name](file:///a%2Fb)'],
  ])('a link to %s is %s', (uri, text) => {
    expect(textOf(link(uri))).toEqual([text]);
  });

  it('encloses embedded text in a fence with its address', () => {
    const resource = { uri: 'file:///a b.md', text: 'x\n````\n' };
    expect(textOf({ type: 'resource', resource })).toEqual(['\n`````file:///a%20b.md\nx\n````\n`````\n']);
  });

  it('sends images as base64, embedded ones too', () => {
    const image: ContentBlock = { type: 'image', mimeType: 'image/png', data: 'AAAA' };
    const embedded: ContentBlock = { type: 'resource', resource: { uri: 'x', mimeType: 'image/gif', blob: 'BBBB' } };
    expect(contentOf([image, embedded], CWD)).toEqual([
      { type: 'image', source: { kind: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'image', source: { kind: 'base64', media_type: 'image/gif', data: 'BBBB' } },
    ]);
  });

  it.each<[string, ContentBlock[]]>([
    ['prompt: must not be empty', []],
    ['prompt.0.type: audio', [{ type: 'audio', mimeType: 'audio/wav', data: 'AAAA' }]],
    ['prompt.0.data: ', [{ type: 'image', mimeType: 'image/png', data: '' }]],
    ['prompt.0.resource: ', [{ type: 'resource', resource: { uri: 'x', mimeType: 'application/pdf', blob: 'BBBB' } }]],
  ])('refuses with %s', (message, blocks) => {
    expect(() => contentOf(blocks, CWD)).toThrow(message);
  });

  it('refuses images that no request can carry', () => {
    const half: ContentBlock = { type: 'image', mimeType: 'image/png', data: 'A'.repeat(15 * 1024 * 1024) };
    expect(contentOf([half], CWD)).toHaveLength(1);
    expect(() => contentOf([half, half], CWD)).toThrow('prompt.1: the images of the prompt are too large');
  });
});
