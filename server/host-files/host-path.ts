/** Paths anywhere on this machine. */
import { isAbsolute } from 'node:path';
import { invalidField } from '#server/errors/service-error.ts';

/** Throws `validation.failed`; `~` is not expanded. */
export function assertAbsolute(path: string): void {
  if (path.includes('\0')) throw invalidField('path', 'must not contain a NUL character');
  if (!isAbsolute(path)) throw invalidField('path', `path must be absolute: ${path}`);
}
