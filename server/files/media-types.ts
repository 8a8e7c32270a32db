/** Detects image and video types by the first bytes of a file. */

/** All marks of an entry must match. The first matching entry wins: the general `ftyp` follows the specific ones. */
const signatures: [type: string, ...marks: [offset: number, bytes: string][]][] = [
  ['image/png', [0, '\x89PNG\r\n\x1a\n']],
  ['image/jpeg', [0, '\xff\xd8\xff']],
  ['image/gif', [0, 'GIF87a']],
  ['image/gif', [0, 'GIF89a']],
  ['image/webp', [0, 'RIFF'], [8, 'WEBP']],
  ['image/tiff', [0, 'II*\0']],
  ['image/tiff', [0, 'MM\0*']],
  ['image/heic', [4, 'ftypheic']],
  ['image/avif', [4, 'ftypavif']],
  ['video/mp4', [4, 'ftyp']],
  ['video/webm', [0, '\x1a\x45\xdf\xa3']],
  ['video/x-msvideo', [0, 'RIFF'], [8, 'AVI ']],
];

/** Number of bytes that `mediaType` reads. */
export const SIGNATURE_BYTES = 16;

/** Image types that models accept. */
export const acceptedImageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Extensions of image types that no model accepts; a URL with one is replaced with a notice. */
const unsupportedExtensions = /\.(svg|bmp|tiff?|heic|heif|avif|ico|psd|raw)$/i;

/** Media type by signature; undefined for an unknown one. */
export function mediaType(head: Uint8Array): string | undefined {
  const text = Buffer.from(head.subarray(0, SIGNATURE_BYTES)).toString('latin1');
  return signatures.find(([, ...marks]) => marks.every(([offset, bytes]) => text.startsWith(bytes, offset)))?.[0];
}

/** Accepted image type by signature; undefined for other data. */
export function sniffImage(bytes: Uint8Array): string | undefined {
  const type = mediaType(bytes);
  return type !== undefined && acceptedImageTypes.has(type) ? type : undefined;
}

/** Unsupported image type by the extension in the URL's path, ignoring the query. */
export function unsupportedImageUrl(url: string): string | undefined {
  const path = url.startsWith('data:') ? '' : (url.split(/[?#]/)[0] ?? '');
  const extension = unsupportedExtensions.exec(path)?.[1]?.toLowerCase();
  return extension && `image/${extension === 'svg' ? 'svg+xml' : extension}`;
}
