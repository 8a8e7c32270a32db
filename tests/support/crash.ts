/** Copies sessions as a killed server leaves them: the test process cannot kill the server that runs in it. */
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Session } from '#schema/rest/session.ts';
import { deadOwner } from './lease-holder.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { sessionFolder } from './session-folder.ts';

/**
 * Creates a home with the configuration of `home` and a copy of the session's folder, its lock owned by a process that
 * has exited. The index is empty. The caller removes the home.
 */
export async function crashedHome(home: string, session: Session): Promise<string> {
  const copy = await temporaryDirectory();
  await cp(join(home, 'config.toml'), join(copy, 'config.toml'));
  const folder = sessionFolder(copy, session);
  await mkdir(folder, { recursive: true });
  // Temporary files of atomic writes may vanish during the copy.
  const filter = (source: string) => !/\.tmp-/.test(source);
  await cp(sessionFolder(home, session), folder, { recursive: true, filter });
  for (const name of await readdir(folder)) {
    if (/^lock\.\d+$/.test(name)) await writeFile(join(folder, name), deadOwner());
  }
  return copy;
}
