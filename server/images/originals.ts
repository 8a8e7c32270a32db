/** Cache of the originals of scaled-down images: `media-originals/` of the session; the oldest are evicted first. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeFileAtomic } from '#server/files/atomic-write.ts';
import { lazy } from '#server/async/lazy.ts';
import type { Fitted } from './images.ts';

/** Limit for all originals of a session together. */
const FOLDER_MAX_BYTES = 1024 * 1024 * 1024;

const extensions: Record<string, string> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
};

/** Temporary folder, for sessions whose folder cannot be written. */
const elsewhere = lazy(() => mkdtemp(join(tmpdir(), 'service-code-originals-')));

/**
 * Stores the original under the hash of its bytes, which deduplicates equal ones, and returns its path; undefined if it
 * cannot be written. The path of a new file is added to `written`.
 */
export async function keepOriginal(
  sessionDir: string,
  { data, type }: Fitted['original'],
  { written, maxBytes = FOLDER_MAX_BYTES }: { written?: string[]; maxBytes?: number } = {},
): Promise<string | undefined> {
  const stem = createHash('sha256').update(data).digest('hex').slice(0, 32);
  const name = `${stem}.${extensions[type] ?? 'bin'}`;
  const keepIn = async (folder: string) => {
    const path = join(folder, name);
    if ((await stat(path).catch(() => undefined))?.size === data.length) {
      const now = new Date();
      await utimes(path, now, now);
      return path;
    }
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFileAtomic(path, data);
    written?.push(path);
    await prune(folder, name, maxBytes);
    return path;
  };
  try {
    return await keepIn(join(sessionDir, 'media-originals'));
  } catch {
    return elsewhere()
      .then(keepIn)
      .catch(() => undefined);
  }
}

/** Evicts the oldest files until the total is within `maxBytes`; never the file just written. */
async function prune(folder: string, present: string, maxBytes: number): Promise<void> {
  const files: { path: string; size: number; mtimeMs: number }[] = [];
  let total = 0;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const facts = await stat(path).catch(() => undefined);
    if (!facts?.isFile()) continue;
    total += facts.size;
    if (name !== present) files.push({ path, size: facts.size, mtimeMs: facts.mtimeMs });
  }
  for (const { path, size } of files.toSorted((one, other) => one.mtimeMs - other.mtimeMs)) {
    if (total <= maxBytes) return;
    await rm(path, { force: true });
    total -= size;
  }
}

/** Text that describes the scaling to the model; empty for an unscaled image. */
export function caption({ original, smaller }: Fitted, path: string | undefined): string {
  if (!smaller) return '';
  const { data, type, size } = original;
  const before = size ? `${size.width}x${size.height} pixels, ` : '';
  const kept = path === undefined ? '' : ` The original is at ${path}.`;
  return `The image was made smaller: from ${type}, ${before}${data.length} bytes, to ${smaller.type}, ${smaller.size.width}x${smaller.size.height} pixels, ${smaller.data.length} bytes.${kept}`;
}
