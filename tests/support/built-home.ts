/** What tests of the built server stand on: a home whose model is a scripted one, and a project under git. */
import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from '@decimalturn/toml-patch';
import { startModelServer, type ModelServer } from './model-server.ts';
import { temporaryDirectory } from './server.ts';

export interface BuiltHome {
  /** Holds the other two. */
  root: string;
  home: string;
  project: string;
  model: ModelServer;
  /** To be called when no server uses it any more. */
  remove(): Promise<void>;
}

/** Starts the model server, of a model with this record; servers are the test's own. */
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
