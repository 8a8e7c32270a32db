/** Conflict check of a batch: calls that touch different files, or only read, may run concurrently. */
import { sep } from 'node:path';
import type { Access } from '#server/tools/tool.ts';

type FileAccess = Extract<Access, { kind: 'file' }>;

function covers(outer: FileAccess, inner: FileAccess): boolean {
  const [root, path] = [outer.path.toLowerCase(), inner.path.toLowerCase()];
  if (root === path) return true;
  return outer.recursive === true && path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function filesConflict(a: FileAccess, b: FileAccess): boolean {
  if (a.mode === 'read' && b.mode === 'read') return false;
  return covers(a, b) || covers(b, a);
}

function conflict(a: Access, b: Access): boolean {
  if (a.kind === 'all' || b.kind === 'all') return true;
  return a.kind === 'file' && b.kind === 'file' && filesConflict(a, b);
}

/** Whether two calls must run sequentially. One without accesses may touch anything; paths compare without case. */
export function accessesConflict(a: readonly Access[], b: readonly Access[]): boolean {
  if (a.length === 0 || b.length === 0) return true;
  return a.some((one) => b.some((other) => conflict(one, other)));
}
