/** Roots of workspaces, and the ids derived from them. */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, isAbsolute, normalize } from 'node:path';
import { ServiceError, invalidField } from '#server/errors/service-error.ts';
import { cutText } from '#server/text/truncate.ts';
import { directoryFault } from '#server/files/file-kind.ts';

const SLUG_MAX_CHARS = 40;
const NAME_MAX_CHARS = 100;
const HASH_CHARS = 12;

const slashed = (path: string) => path.replaceAll('\\', '/').replace(/\/+$/, '');

/** Normalizes lexically, without a trailing slash; links are not resolved. */
export function normalRoot(root: string): string {
  const normal = normalize(root);
  return normal.length > 1 ? normal.replace(/[/\\]$/, '') : normal;
}

/** Two roots with one key are the same workspace. */
export function rootKey(root: string): string {
  const key = slashed(root);
  return /^([A-Za-z]:(\/|$)|\/\/)/.test(key) ? key.toLowerCase() : key;
}

function slug(name: string): string {
  const trimmed = (text: string) => text.replace(/^-+|-+$/g, '');
  const cut = trimmed(trimmed(name.toLowerCase().replace(/[^a-z0-9._-]+/g, '-')).slice(0, SLUG_MAX_CHARS));
  return ['', '.', '..'].includes(cut) ? 'workspace' : cut;
}

/** Returns `wd_<slug>_<hash12>` for a normalized root. */
export function workspaceIdOf(root: string): string {
  const path = slashed(root);
  const hash = createHash('sha256').update(path).digest('hex').slice(0, HASH_CHARS);
  return `wd_${slug(path.slice(path.lastIndexOf('/') + 1))}_${hash}`;
}

/** Returns the base name of the root, `/` for the root directory. */
export function defaultName(root: string): string {
  return cutText(basename(root) || root, NAME_MAX_CHARS);
}

/**
 * Throws unless `path` is an existing directory, following links: `fs.path_not_found` with
 * `<label> <shown> does not exist` (relative paths are not resolved) or `… is not a directory`, `fs.permission_denied`
 * where the system denies access.
 */
export async function checkDirectory(path: string, label: string, shown: string = path): Promise<void> {
  const fault = await directoryFault(path, stat);
  if (fault === 'missing') throw new ServiceError('fs.path_not_found', `${label} ${shown} does not exist`);
  if (fault === 'not a directory') throw new ServiceError('fs.path_not_found', `${label} ${shown} is not a directory`);
  if (fault) throw new ServiceError('fs.permission_denied', `${label} ${shown} cannot be read: permission denied`);
}

/** Validates the root of `POST /workspaces`: `validation.failed` unless absolute, then like `checkDirectory`. */
export async function checkRoot(root: string): Promise<void> {
  if (!isAbsolute(root)) throw invalidField('root', 'root must be an absolute path');
  await checkDirectory(root, 'root');
}
