/**
 * Sessions as a killed server leaves them. In one process a server cannot be killed, so its files are copied instead.
 */
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Session } from '#schema/session.ts';
import { deadOwner } from './lease-holder.ts';
import { temporaryDirectory } from './server.ts';

export const sessionFolder = (home: string, { id, workspace_id }: Pick<Session, 'id' | 'workspace_id'>): string =>
  join(home, 'sessions', workspace_id, id);

/**
 * A new home with the configuration of `home` and the session's folder as it is at this moment, its lock held by a
 * process that is gone. The index is empty. The caller removes the home.
 */
export async function crashedHome(home: string, session: Session): Promise<string> {
  const copy = await temporaryDirectory();
  await cp(join(home, 'config.toml'), join(copy, 'config.toml'));
  const folder = sessionFolder(copy, session);
  await mkdir(folder, { recursive: true });
  // A file that is being written may vanish while it is copied.
  const filter = (source: string) => !/\.tmp-/.test(source);
  await cp(sessionFolder(home, session), folder, { recursive: true, filter });
  for (const name of await readdir(folder)) {
    if (/^lock\.\d+$/.test(name)) await writeFile(join(folder, name), deadOwner());
  }
  return copy;
}
