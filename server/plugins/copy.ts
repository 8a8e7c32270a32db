/** Copies a directory of the machine into the home. */
import { constants } from 'node:fs';
import { mkdir, open, opendir, realpath, stat, symlink, type FileHandle } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { mapLimit } from '#server/async/map-limit.ts';
import { openRegular } from '#server/files/open-regular.ts';
import { isInside } from '#server/files/paths.ts';
import type { Diagnostic } from './diagnostics.ts';
import { NotStored, stored } from './stored.ts';
import { createBudget, TooLarge, type Budget, type SizeLimits } from './unpack-limits.ts';

/** Not copied, at any depth. */
const GIT = '.git';
const CHUNK_BYTES = 256 * 1024;
const WIDTH = 8;

interface Listing {
  /** Relative paths; folders before what they contain. */
  folders: { path: string; mode: number }[];
  files: string[];
  links: string[];
}

/** Lists what is copied. Directories that are links are not entered. */
async function list(source: string, budget: Budget, signal: AbortSignal): Promise<Listing> {
  const found: Listing = { folders: [], files: [], links: [] };
  const pending = [''];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    signal.throwIfAborted();
    for await (const entry of await opendir(join(source, folder), { bufferSize: 256 })) {
      if (entry.name === GIT) continue;
      const path = join(folder, entry.name);
      const kind = entry.isDirectory()
        ? 'folder'
        : entry.isFile()
          ? 'file'
          : entry.isSymbolicLink()
            ? 'link'
            : undefined;
      // Devices, sockets and pipes.
      if (!kind) continue;
      budget.entry();
      if (kind === 'file') found.files.push(path);
      else if (kind === 'link') found.links.push(path);
      else {
        found.folders.push({ path, mode: (await stat(join(source, path))).mode });
        pending.push(path);
      }
    }
  }
  return found;
}

/** Copies a file that is still a regular one; its owner can read and replace the copy. */
async function copyFile(from: string, to: string, budget: Budget): Promise<void> {
  // The source may be replaced by a link meanwhile.
  const source = await openRegular(from, constants.O_NOFOLLOW ?? 0);
  if (!source) return;
  try {
    const { mode, size } = await source.stat();
    const target = await stored(open(to, 'wx', 0o600));
    try {
      await copyBytes(source, target, Math.min(size + 1, CHUNK_BYTES), budget);
      await stored(target.chmod((mode & 0o777) | 0o600));
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function copyBytes(source: FileHandle, target: FileHandle, chunkBytes: number, budget: Budget): Promise<void> {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  for (;;) {
    const { bytesRead } = await source.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return;
    budget.bytes(bytesRead);
    await stored(target.writeFile(buffer.subarray(0, bytesRead)));
  }
}

/** Settles when no copy runs any more: the caller may then remove the target. */
async function copyFiles(files: readonly string[], copy: (path: string) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  await mapLimit(files, WIDTH, async (path) => {
    if (failures.length === 0) await copy(path).catch((error: unknown) => failures.push(error));
  });
  if (failures.length > 0) throw failures[0];
}

/** The relative link with the same target in the copy; undefined if the target is not copied. */
async function linkInside(source: string, path: string): Promise<string | undefined> {
  try {
    const target = await realpath(join(source, path));
    const inside = relative(source, target);
    if (!isInside(target, source) || inside.split(/[/\\]/).includes(GIT)) return undefined;
    const stats = await stat(target);
    if (!stats.isFile() && !stats.isDirectory()) return undefined;
    return relative(dirname(path), inside) || '.';
  } catch {
    return undefined;
  }
}

/**
 * Copies the directory `source.real`, whose links are resolved, to `target`, which it creates. Links out of it are left
 * out with a warning. Throws `validation.failed` if it is too large or cannot be read, and `NotStored`.
 */
export async function copyFolder(
  source: { real: string; shown: string },
  target: string,
  limits: SizeLimits,
  signal: AbortSignal,
): Promise<Diagnostic[]> {
  const budget = createBudget(limits);
  try {
    await stored(mkdir(target, { mode: 0o700 }));
    const { folders, files, links } = await list(source.real, budget, signal);
    for (const { path, mode } of folders) await stored(mkdir(join(target, path), { mode: (mode & 0o777) | 0o700 }));
    await copyFiles(files, async (path) => {
      signal.throwIfAborted();
      await copyFile(join(source.real, path), join(target, path), budget);
    });
    const diagnostics: Diagnostic[] = [];
    for (const path of links) {
      const text = await linkInside(source.real, path);
      if (text !== undefined) await stored(symlink(text, join(target, path)));
      else {
        const message = `the link ${path} is left out, because its target is not part of the plugin`;
        diagnostics.push({ severity: 'warn', message, path: join(source.real, path) });
      }
    }
    return diagnostics;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof NotStored) throw error;
    const reason = error instanceof TooLarge ? error.message : `it cannot be read: ${errorMessage(error)}`;
    throw new ServiceError('validation.failed', `Cannot install plugin at ${source.shown}: ${reason}`, {
      cause: error,
    });
  }
}
