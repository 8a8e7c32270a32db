/** Search: its service, with the sessions that it searches. */
import { join } from 'node:path';
import { ServiceError } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import { openSearchThread } from '#server/search/open-thread.ts';
import { createSearch, type Search } from '#server/search/search.ts';
import { searchSchema } from '#server/search/tables.ts';
import { indexSchema } from '#server/sessions/index/session-header.ts';
import type { SessionIndex } from '#server/sessions/index/session-index.ts';
import type { Sessions } from '#server/sessions/sessions.ts';
import { indexPath } from '#server/storage/index-db.ts';
import type { Workspaces } from '#server/workspaces/workspaces.ts';
import type { Disposers } from './disposers.ts';
import type { Home } from './open-home.ts';
import { sessionsDir } from './open-workspaces.ts';
import type { AppOptions } from './options.ts';

export interface SearchParts {
  options: AppOptions;
  home: Home;
  index: SessionIndex;
  workspaces: Workspaces;
  liveJournal: Sessions['liveJournal'];
  log: Logger;
}

/** Creates the service; its thread starts some seconds after the server, or with the first search. */
export function openSearch(parts: SearchParts, opened: Disposers): Search {
  const { options, home, index, workspaces, liveJournal, log } = parts;
  const cache = join(options.home, 'cache');
  return opened.add(
    createSearch({
      sessionsDir: sessionsDir(options.home),
      lockPath: join(cache, 'search.lock'),
      holder: home.instance.holder,
      times: options.searchTimes,
      openThread: (events) =>
        openSearchThread({
          options: {
            path: join(cache, `search-v${searchSchema.version}.db`),
            sessionIndex: indexPath(options.home, indexSchema),
            sessionsDir: sessionsDir(options.home),
            passEveryMs: options.searchTimes.everyMs,
          },
          events,
          log,
        }),
      sessionOf(id) {
        const live = liveJournal(id);
        if (live) return { ...live, isLive: true };
        const stored = index.stored(id);
        return stored && { header: stored.header, length: stored.journalLength, isLive: false };
      },
      countSessions: () => index.workspaces().reduce((sum, workspace) => sum + workspace.sessions, 0),
      workspaceIds: (id) => workspaces.aliases(id).catch(idsOfUnknown(id)),
      log,
    }),
  );
}

/** Sessions of a project that is not registered any more are still found under their own id. */
const idsOfUnknown = (id: string) => (error: unknown) => {
  if (error instanceof ServiceError && error.name === 'workspace.not_found') return [id];
  throw error;
};
