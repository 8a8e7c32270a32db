/** Excludes files from searches: files that hold secrets, and the metadata of version control systems. */
import { join, relative, sep } from 'node:path';
import { mapLimit } from '#server/async/map-limit.ts';
import { isInside } from '#server/files/paths.ts';
import type { Target } from '#server/runtime/path-policy.ts';
import { readStart } from '#server/runtime/read-start.ts';
import { VCS_DIRECTORIES } from '#server/ripgrep/ripgrep.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import type { ToolEnvironment } from '#server/tools/tool.ts';
import { holdsPrivateKey, isSensitivePath, PRIVATE_KEY_BYTES } from './sensitive-files.ts';
import { findServerFiles } from './server-files.ts';

const vcsNames = new Set(VCS_DIRECTORIES);

/** Whether a path may be searched. For a path below `cwd`, only its segments below `cwd` are checked. */
function inVersionControl(path: string, cwd: string): boolean {
  const counted = isInside(path, cwd) ? relative(cwd, path) : path;
  return counted.split(sep).some((segment) => vcsNames.has(segment));
}

/** Drops files that must not be returned, and counts the sensitive ones among them. */
export interface SearchFilter {
  /** Whether a file may be returned. To be called a single time for each file, because it counts. */
  shows(name: string): boolean;
  /** Filters names that passed `shows`: drops files that start with a private key. Rejects with the signal's reason. */
  withoutPrivateKeys(names: readonly string[], signal: AbortSignal): Promise<string[]>;
  hidden(): number;
}

interface FilterScope extends Pick<ToolEnvironment, 'cwd' | 'home' | 'sessionDir' | 'ancestorDirs'> {
  runtime: Pick<Runtime, 'openFile' | 'realpath'>;
}

const SIDE_BY_SIDE = 16;

/**
 * Creates the filter of a search in `directory`, which tests paths as named and with the search root's links resolved.
 * The server's settings contain keys: only a search of that file itself, which needs approval, returns them.
 */
export async function createSearchFilter(directory: string, target: Target, place: FilterScope): Promise<SearchFilter> {
  const { cwd, runtime } = place;
  // The file's directory is resolved separately: its links differ from those of the file.
  const realDirectory = directory === target.path ? target.real : await runtime.realpath(directory);
  const realCwd = await runtime.realpath(cwd);
  const { isSecret, isSettings } = await findServerFiles(place);
  const secret = (path: string) => isSensitivePath(path) || isSecret(path);
  const rootSensitive = secret(target.path) || secret(target.real);
  const namesSettings = isSettings(target.path) || isSettings(target.real);
  const sensitive = (path: string) => secret(path) || (!namesSettings && isSettings(path));
  const rootVersionControl = inVersionControl(target.path, cwd) || inVersionControl(target.real, realCwd);
  let hidden = 0;
  return {
    shows(name) {
      const path = join(directory, name);
      const real = join(realDirectory, name);
      if (rootVersionControl || inVersionControl(path, cwd) || inVersionControl(real, realCwd)) return false;
      if (!rootSensitive && !sensitive(path) && !sensitive(real)) return true;
      hidden++;
      return false;
    },
    async withoutPrivateKeys(names, signal) {
      const secrets = await mapLimit(names, SIDE_BY_SIDE, async (name) => {
        signal.throwIfAborted();
        const start = await readStart(join(directory, name), PRIVATE_KEY_BYTES, runtime).catch(() => undefined);
        return start !== undefined && holdsPrivateKey(start);
      });
      hidden += secrets.filter(Boolean).length;
      return names.filter((_name, index) => !secrets[index]);
    },
    hidden: () => hidden,
  };
}
