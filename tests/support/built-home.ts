/** Fixture of the tests of the built server: a home with a scripted model, and a project under git. */
import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from '@decimalturn/toml-patch';
import { startModelServer, type ModelServer } from './model-server.ts';
import { temporaryDirectory } from './server.ts';

export interface BuiltHome {
  /** The parent directory of `home` and `project`. */
  root: string;
  home: string;
  project: string;
  model: ModelServer;
  /** Call it after all servers of the home have exited. */
  remove(): Promise<void>;
}

/** Starts a model server whose model has this record; the test starts the servers. */
export async function makeBuiltHome(record?: Record<string, unknown>): Promise<BuiltHome> {
  const root = await temporaryDirectory();
  const home = join(root, 'home');
  const project = join(root, 'project');
  await mkdir(home);
  await mkdir(project);
  execFileSync('git', ['init', '--quiet', project]);
  const model = await startModelServer();
  await writeFile(join(home, 'config.toml'), stringify(model.providerConfig(record ? { model: record } : {})));
  return {
    root,
    home,
    project,
    model,
    async remove() {
      await model.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}
