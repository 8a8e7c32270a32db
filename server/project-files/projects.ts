/** Finds the project of a directory: the nearest directory at or above it whose `.git` entry is accepted. */
import { join } from 'node:path';
import { isInside } from '#server/files/paths.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import { gitEntryHolders } from './git-entries.ts';
import { createOwnerRule, type OwnerRule, type OwnerRuleDeps } from './owner-rule.ts';
import { createControlPaths, type Repository } from './repository.ts';

export interface ProjectsDeps extends OwnerRuleDeps {
  runtime: OwnerRuleDeps['runtime'] & Pick<Runtime, 'readFile' | 'realpath'>;
}

export interface Project {
  /** Nearest directory at or above the requested one whose `.git` entry is accepted; undefined outside a project. */
  top: string | undefined;
  /** Directories below the top whose `.git` entry is ignored because of its owner. */
  passedOver: string[];
}

/** All directories are absolute; symbolic links in them are not resolved. */
export interface Projects {
  find(directory: string): Promise<Project>;
  /** Top of the project; undefined outside of any. */
  topOf(directory: string): Promise<string | undefined>;
  /** Top of the project, or the directory itself outside of any. */
  rootOf(directory: string): Promise<string>;
  /** The repository that git finds for a directory (links resolved); undefined outside of any. */
  repositoryOf(real: string): Promise<Repository | undefined>;
  admits: OwnerRule;
}

/** Creates the finder without reading any file. */
export function createProjects({ runtime, trusted }: ProjectsDeps): Projects {
  const admits = createOwnerRule({ runtime, trusted });
  const controlPaths = createControlPaths(runtime);

  async function* holders(start: string): AsyncGenerator<{ directory: string; counts: boolean }> {
    for await (const directory of gitEntryHolders(start, runtime)) {
      yield { directory, counts: await admits(directory, '.git', start) };
    }
  }

  async function find(directory: string): Promise<Project> {
    const passedOver: string[] = [];
    for await (const holder of holders(directory)) {
      if (holder.counts) return { top: holder.directory, passedOver };
      passedOver.push(holder.directory);
    }
    return { top: undefined, passedOver };
  }

  return {
    find,
    topOf: async (directory) => (await find(directory)).top,
    rootOf: async (directory) => (await find(directory)).top ?? directory,
    async repositoryOf(real) {
      for await (const { directory: top, counts } of holders(real)) {
        const paths = counts ? await controlPaths(join(top, '.git')) : undefined;
        // Git ignores an entry that is not a repository.
        if (paths) return { top, controlPaths: paths, inWorkTree: !paths.some((path) => isInside(real, path)) };
      }
      return undefined;
    },
    admits,
  };
}
