/** Hints for files that cannot be shown. */
import { fileType } from '#server/files/file-types.ts';

const CONVERT = 'Convert it to PNG with Bash, if a program for that is installed, and read the copy:';

/** The message for an image type that no model accepts. */
export const unsupported = (path: string, type: string): string =>
  `${path} is ${type}, which models do not take. ${CONVERT} \`magick in.${type.slice(type.indexOf('/') + 1)} out.png\`.`;

/** Hints by the media type of the file name. */
const advice: Record<string, string> = {
  'image/svg+xml': `It is text, so Read shows its source. To see it, ${CONVERT.toLowerCase()} \`rsvg-convert in.svg -o out.png\`.`,
  'image/bmp': `${CONVERT} \`magick in.bmp out.png\`.`,
  'image/x-icon': `${CONVERT} \`magick in.ico out.png\`.`,
  'application/pdf': `${CONVERT} \`pdftoppm -png -r 100 in.pdf page\`, or read its text with \`pdftotext\`.`,
  'audio/mpeg': 'Audio cannot be shown.',
  'audio/wav': 'Audio cannot be shown.',
};

/** The message for a file whose bytes are neither a known image nor a known video. */
export function notMedia(path: string): string {
  const type = fileType(path)?.mime;
  const hint = type === undefined ? undefined : advice[type];
  if (type === undefined || hint === undefined) return `${path} is neither an image nor a video. Use Read for text.`;
  if (type.startsWith('image/') || type === 'application/pdf') return `${path} cannot be shown as it is. ${hint}`;
  return `${path} is neither an image nor a video. ${hint}`;
}
