import { join } from 'node:path';
import type { Session } from '#schema/rest/session.ts';

/** The folder of a session's journal and other files in a server's home. */
export const sessionFolder = (home: string, { id, workspace_id }: Pick<Session, 'id' | 'workspace_id'>): string =>
  join(home, 'sessions', workspace_id, id);
