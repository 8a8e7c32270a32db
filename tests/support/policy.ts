/** A permission policy for tests: on the local file system, by default without folders of agents. */
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
