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

async function newestOf(rest: Rest, cwd: string): Promise<Session> {
  const root = await realpath(cwd).catch((error: unknown) => {
    throw new RunError('bad_use', `cannot use the folder ${cwd}: ${reasonOf(error)}`);
  });
  const { items: workspaces } = await rest.workspaces();
  const workspace = workspaces.find((each) => each.root === root);
  const sessions = workspace && (await rest.sessions({ workspace_id: workspace.id, page_size: 1 }));
  const [session] = sessions?.items ?? [];
  if (!session) throw new RunError('bad_use', `there is no session to continue in ${root}`);
  return session;
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
