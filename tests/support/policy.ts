/** A permission policy for tests: on this machine's files, without folders of agents unless they are given. */
import { createCommandLineReader } from '#server/permissions/command-line/command-line-reader.ts';
import {
  createPermissionPolicy,
  type PermissionPolicy,
  type PermissionPolicyDeps,
} from '#server/permissions/policy.ts';
import { openProjects } from './projects.ts';

export const openPolicy = (deps: Partial<PermissionPolicyDeps> = {}): PermissionPolicy =>
  createPermissionPolicy({
    reader: createCommandLineReader(),
    repositoryOf: openProjects().repositoryOf,
    controlFolders: async () => ({ user: [], named: [] }),
    ...deps,
  });
