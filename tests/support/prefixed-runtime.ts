/**
 * Simulates another machine: the local one with all paths mapped, so that code that bypasses the runtime finds no
 * files. Every call is counted.
 */
import { join } from 'node:path';
import { isInside } from '#server/files/paths.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import type { Runtime } from '#server/runtime/runtime.ts';

export interface PrefixedRuntime extends Runtime {
  /** Number of calls by method name. */
  calls: Map<string, number>;
}

/** Maps `/x` of that machine to `<root>/x`; `root` has its links resolved. Program names are not mapped. */
export function createPrefixedRuntime(root: string): PrefixedRuntime {
  const local = createLocalRuntime();
  const calls = new Map<string, number>();
  const count = (name: keyof Runtime) => void calls.set(name, (calls.get(name) ?? 0) + 1);
  const here = (path: string) => join(root, path);
  const there = (path: string) => (isInside(path, root) ? `/${path.slice(root.length + 1)}` : path);
  return {
    calls,
    homeDirectory: () => '/home/somebody',
    environment: () => ({ PATH: process.env.PATH, MACHINE: 'other' }),
    effectiveUser: local.effectiveUser,
    readFile(path, { maxBytes, admit }) {
      count('readFile');
      const limits = { maxBytes, ...(admit ? { admit: (real: string) => admit(there(real)) } : {}) };
      return local.readFile(here(path), limits);
    },
    openFile(path) {
      count('openFile');
      return local.openFile(here(path));
    },
    writeFile(path, data, options) {
      count('writeFile');
      return local.writeFile(here(path), data, options);
    },
    stat(path) {
      count('stat');
      return local.stat(here(path));
    },
    lstat(path) {
      count('lstat');
      return local.lstat(here(path));
    },
    async realpath(path) {
      count('realpath');
      return there(await local.realpath(here(path)));
    },
    list(path) {
      count('list');
      return local.list(here(path));
    },
    which(program, path) {
      count('which');
      return local.which(program, path);
    },
    spawn(request) {
      count('spawn');
      return local.spawn({ ...request, cwd: here(request.cwd) });
    },
  };
}
