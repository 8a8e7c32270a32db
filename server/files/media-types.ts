/** Image types that models take, told from the bytes (engine.md §20). */

const signatures: [string, (bytes: Buffer) => boolean][] = [
  ['image/png', (bytes) => bytes.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))],
  ['image/jpeg', (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))],
  ['image/gif', (bytes) => /^GIF8[79]a/.test(bytes.subarray(0, 6).toString('latin1'))],
  ['image/webp', (bytes) => /^RIFF....WEBP/s.test(bytes.subarray(0, 12).toString('latin1'))],
];

export const acceptedImageTypes: ReadonlySet<string> = new Set(signatures.map(([type]) => type));

/** Extensions of image types that no model takes; a URL with one becomes a notice (turns.md §2.2). */
const unsupportedExtensions = /\.(svg|bmp|tiff?|heic|heif|avif|ico|psd|raw)$/i;

/** The accepted type these bytes really have, if any. */
export function sniffImage(bytes: Buffer): string | undefined {
  return signatures.find(([, matches]) => matches(bytes))?.[0];
}

/** The unsupported image type a URL's path names, query left out. */
export function unsupportedImageUrl(url: string): string | undefined {
  const path = url.startsWith('data:') ? '' : (url.split(/[?#]/)[0] ?? '');
  const extension = unsupportedExtensions.exec(path)?.[1]?.toLowerCase();
  return extension && `image/${extension === 'svg' ? 'svg+xml' : extension}`;
}
