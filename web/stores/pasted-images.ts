/** Images from the clipboard as a prompt carries them. */

export interface PastedImage {
  name: string;
  type: string;
  /** Base64, without the `data:` prefix. */
  data: string;
}

const accepted = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
/** One prompt may have 32 MiB in all; base64 adds a third. */
const LARGEST_BYTES = 8 * 1024 * 1024;

/** Throws an Error with a readable reason for what a prompt cannot carry. */
export function pastedImages(files: File[]): Promise<PastedImage[]> {
  return Promise.all(files.map(read));
}

async function read(file: File): Promise<PastedImage> {
  if (!accepted.includes(file.type))
    throw new Error(`${file.name || 'This file'} is not a PNG, JPEG, GIF or WebP image`);
  if (file.size > LARGEST_BYTES) throw new Error(`${file.name} is larger than 8 MiB`);
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(String(reader.result)));
    reader.addEventListener('error', () => reject(reader.error ?? new Error('The image cannot be read')));
    reader.readAsDataURL(file);
  });
  return { name: file.name, type: file.type, data: url.slice(url.indexOf(',') + 1) };
}
