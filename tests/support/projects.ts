/** The project finder for tests: on the local file system, trusts no project by default. */
import { createProjects, type Projects, type ProjectsDeps } from '#server/project-files/projects.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';

export const openProjects = (deps: Partial<ProjectsDeps> = {}): Projects =>
  createProjects({ runtime: createLocalRuntime(), trusted: async () => false, ...deps });
