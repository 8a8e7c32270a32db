import { expect, test } from 'vitest';
import { parseDataUrl } from '#server/files/data-url.ts';
import { mediaType, sniffImage, unsupportedImageUrl } from '#server/files/media-types.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

test.each([
  ['\x89PNG\r\n\x1a\nIHDR', 'image/png', true],
  ['\xff\xd8\xff\xe0', 'image/jpeg', true],
  ['GIF87a', 'image/gif', true],
  ['GIF89a...', 'image/gif', true],
  ['RIFF\x10\x00\x00\x00WEBPVP8 ', 'image/webp', true],
  ['II*\0....', 'image/tiff', false],
  ['MM\0*....', 'image/tiff', false],
  ['\0\0\0\x18ftypheic', 'image/heic', false],
  ['\0\0\0\x18ftypavif', 'image/avif', false],
  ['\0\0\0\x18ftypisom', 'video/mp4', false],
  ['\x1a\x45\xdf\xa3', 'video/webm', false],
  ['RIFF\x10\x00\x00\x00AVI LIST', 'video/x-msvideo', false],
  ['RIFF\x10\x00\x00\x00WAVEfmt ', undefined, false],
  ['GIF8', undefined, false],
  ['', undefined, false],
  ['# ftyp', undefined, false],
])('%j is %s, accepted by models: %s', (head, type, accepted) => {
  expect(mediaType(bytes(head))).toBe(type);
  expect(sniffImage(bytes(head))).toBe(accepted ? type : undefined);
});

test('unsupported types are detected by the extension of a URL', () => {
  expect(unsupportedImageUrl('https://x/a.SVG?b=.png#c')).toBe('image/svg+xml');
  expect(unsupportedImageUrl('https://x/a.png?b=.svg')).toBeUndefined();
  expect(unsupportedImageUrl('data:image/svg+xml;base64,AA.svg')).toBeUndefined();
});

test.each([
  ['data:image/png;base64,AAAA', { mimeType: 'image/png', data: 'AAAA' }],
  ['data:image/png;name=x;base64,AAAA', { mimeType: 'image/png', data: 'AAAA' }],
  ['data:image/png;base64,', undefined],
  ['data:image/png;a=b;c=d;base64,A\nA', { mimeType: 'image/png', data: 'A\nA' }],
  ['data:;base64,AAAA', undefined],
  ['data:image/png;base64', undefined],
  ['data:image/png,x;base64,AAAA', undefined],
  ['data:image/png;x,y;base64,AAAA', undefined],
  ['data:,x', undefined],
  ['data:text/plain,x', undefined],
  ['https://x/data:image/png;base64,AAAA', undefined],
])('the data URL %s', (url, parts) => {
  expect(parseDataUrl(url)).toEqual(parts);
});
