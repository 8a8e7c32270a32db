/** The output that models receive for a server's result. */
import { expect, test } from 'vitest';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { MEDIA_MAX_BYTES, RESULT_MAX_CHARS, toolResultOf } from '#server/mcp/results.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64');
const output = (result: Partial<CallToolResult>) => toolResultOf('mcp__s__t', { content: [], ...result }).output;
const content = (...parts: CallToolResult['content']) => output({ content: parts });
const text = (value: string) => ({ type: 'text' as const, text: value });

test('a single text is a string; several are joined by line breaks', () => {
  expect(content(text('one'))).toBe('one');
  expect(content(text('one'), text('two'))).toBe('one\ntwo');
  expect(content()).toBe('');
});

test('an error stays an error', () => {
  expect(toolResultOf('t', { content: [text('no')], isError: true })).toEqual({ output: 'no', isError: true });
  expect(toolResultOf('t', { content: [text('no')], isError: false })).toEqual({ output: 'no' });
});

test('media without text are framed by the name of the tool; an image has the type of its bytes', () => {
  expect(content({ type: 'image', data: PNG, mimeType: 'image/jpeg' })).toEqual([
    text('<mcp_tool_result name="mcp__s__t">'),
    { type: 'image_url', imageUrl: { url: `data:image/png;base64,${PNG}` } },
    text('</mcp_tool_result>'),
  ]);
  expect(content(text('see'), { type: 'audio', data: 'AAAA', mimeType: '' })).toEqual([
    text('see'),
    { type: 'audio_url', audioUrl: { url: 'data:audio/mpeg;base64,AAAA' } },
  ]);
});

test('unsupported and oversized media are replaced by a notice', () => {
  expect(content({ type: 'image', data: 'PHN2Zz4=', mimeType: 'image/svg+xml' })).toBe(
    '[image left out: models take no image/svg+xml]',
  );
  const data = 'A'.repeat(Math.ceil((MEDIA_MAX_BYTES * 4) / 3) + 8);
  expect(content({ type: 'audio', data, mimeType: 'audio/mpeg' })).toMatch(/^\[audio left out: it is larger than/);
});

test('embedded resources: text and media by type; others are dropped', () => {
  const blob = (mimeType: string) => ({ type: 'resource' as const, resource: { uri: 'x:1', mimeType, blob: 'AAAA' } });
  expect(content({ type: 'resource', resource: { uri: 'x:1', text: 'inside' } })).toBe('inside');
  expect(content(text('t'), blob('video/mp4'))).toEqual([
    text('t'),
    { type: 'video_url', videoUrl: { url: 'data:video/mp4;base64,AAAA' } },
  ]);
  expect(content(blob('application/zip'))).toBe('');
});

test('links to media on the web stay; other schemes would name files of this machine', () => {
  const link = (uri: string, mimeType?: string) => ({
    type: 'resource_link' as const,
    name: 'n',
    uri,
    ...(mimeType ? { mimeType } : {}),
  });
  expect(content(text('t'), link('https://a.example/x.png', 'image/png'))).toEqual([
    text('t'),
    { type: 'image_url', imageUrl: { url: 'https://a.example/x.png' } },
  ]);
  expect(content(link('https://a.example/x.tiff', 'image/tiff'))).toMatch(/models take no image\/tiff/);
  for (const uri of ['file:///etc/passwd', 'service-file://f_1', 'nothing'])
    expect(content(link(uri, 'image/png'))).toBe('');
  expect(content(link('https://a.example/x'))).toBe('');
});

test('structured content and metadata are rendered as JSON, without reserved keys', () => {
  const _meta = { 'io.modelcontextprotocol/related-task': 1, 'dev.mcp/x': 2, progressToken: 3, 'example.com/cost': 4 };
  expect(output({ content: [text('t')], structuredContent: { a: 1 }, _meta })).toBe(
    't\n<mcp-structured-result>\n{"structuredContent":{"a":1},"_meta":{"example.com/cost":4}}\n</mcp-structured-result>',
  );
  expect(output({ content: [text('t')], _meta: { 'mcp.dev/x': 1 } })).toBe('t');
});

test('all texts together are cut once, with a notice', () => {
  const half = 'a'.repeat(60_000);
  const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' };
  const parts = content(text(half), image, text(half), image, text('never'));
  const texts = Array.isArray(parts) ? parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])) : [];
  expect(texts).toHaveLength(2);
  expect(texts[1]).toMatch(/^a{40000}\n\[The result was cut to 100000 characters\.\]$/);
  expect(String(content(text('b'.repeat(RESULT_MAX_CHARS))))).toHaveLength(RESULT_MAX_CHARS);
});
