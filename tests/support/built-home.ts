/** Fixture of the tests of the built server: a home with a scripted model, and a project under git. */
import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from '@decimalturn/toml-patch';
import { startModelServer, type ModelServer } from './model-server.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export interface BuiltHome {
  /** The parent directory of `home` and `project`. */
  root: string;
  home: string;
  project: string;
  model: ModelServer;
  /** Call it after all servers of the home have exited. */
  remove(): Promise<void>;
}

/** An empty home and a project under git in `root`, and a model server. `folder` contains `root`, and is removed with it. */
export async function makeEmptyHome(folder: string, root = folder): Promise<BuiltHome> {
  const home = join(root, 'home');
  const project = join(root, 'project');
  await mkdir(home, { recursive: true });
  await mkdir(project);
  execFileSync('git', ['init', '--quiet', project]);
  const model = await startModelServer();
  return {
    root,
    home,
    project,
    model,
    async remove() {
      await model.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a model server whose model has this record; the test starts the servers. */
export async function makeBuiltHome(record?: Record<string, unknown>): Promise<BuiltHome> {
  const made = await makeEmptyHome(await temporaryDirectory());
  const config = made.model.providerConfig(record ? { model: record } : {});
  await writeFile(join(made.home, 'config.toml'), stringify(config));
  return made;
}
