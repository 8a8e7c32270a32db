/** The finder of projects for tests: on this machine's files, trusting nothing unless told otherwise. */
import { createProjects, type Projects, type ProjectsDeps } from '#server/project-files/projects.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';

export const openProjects = (deps: Partial<ProjectsDeps> = {}): Projects =>
  createProjects({ runtime: createLocalRuntime(), trusted: async () => false, ...deps });
