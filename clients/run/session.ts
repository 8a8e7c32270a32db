/** The session of a run: a new one, a named one, or the newest of the directory. */
import { readFile, realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { reasonOf, type ContentPart, type Rest, type Session } from '@service-code/client';
import { RunError } from './exit-codes.ts';

/** Uploads that no prompt uses expire after this time, in seconds. */
const EXPIRES_IN_SEC = 3600;

export interface SessionChoice {
  /** Absolute. */
  cwd: string;
  session?: string | undefined;
  continues: boolean;
}

/** Workspaces have the path by which they were opened: links in it may be followed or not. */
async function newestOf(rest: Rest, cwd: string): Promise<Session> {
  const real = await realpath(cwd).catch((error: unknown) => {
    throw new RunError('bad_use', `cannot use the folder ${cwd}: ${reasonOf(error)}`);
  });
  const workspaces = (await rest.workspaces()).items.filter(({ root }) => root === cwd || root === real);
  const pages = await Promise.all(workspaces.map(({ id }) => rest.sessions({ workspace_id: id, page_size: 1 })));
  const [newest] = pages
    .flatMap(({ items }) => items)
    .toSorted((a, b) => Date.parse(b.updated_at) - Date.parse(a.updated_at));
  if (!newest) throw new RunError('bad_use', `there is no session to continue in ${cwd}`);
  return newest;
}

/** Throws RunError if the folder has no session to continue. */
export async function openSession(rest: Rest, { cwd, session, continues }: SessionChoice): Promise<Session> {
  if (session !== undefined) {
    return rest.session(session);
  }
  return continues ? newestOf(rest, cwd) : rest.createSession({ metadata: { cwd } });
}

/** Uploads a file for the prompt. Throws RunError when it cannot be read. */
export async function attach(rest: Rest, path: string): Promise<ContentPart> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new RunError('bad_use', `cannot read ${path}: ${reasonOf(error)}`);
  });
  const { id, name, media_type, size } = await rest.upload(new Blob([bytes]), basename(path), EXPIRES_IN_SEC);
  const kind = /^(image|video)\//.exec(media_type)?.[1];
  if (kind === 'image' || kind === 'video') return { type: kind, source: { kind: 'file', file_id: id } };
  return { type: 'file', file_id: id, name, media_type, size };
}
