/** The user's projects: the index of their sessions, registered folders, trust, additional directories. */
import { join } from 'node:path';
import type { Logger } from '#server/logging/log.ts';
import { createProjects, type Projects } from '#server/project-files/projects.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import { readSessionFolder } from '#server/sessions/index/session-folder.ts';
import { indexSchema } from '#server/sessions/index/session-header.ts';
import { createSessionIndex, type SessionIndex } from '#server/sessions/index/session-index.ts';
import { quoted, type GuardedChange } from '#server/sessions/live/change-warning.ts';
import { createChangeLock } from '#server/storage/change-lock.ts';
import { createIndexDb } from '#server/storage/index-db.ts';
import { createAdditionalDirs, type AdditionalDirs } from '#server/workspaces/additional-dirs.ts';
import { createConfirmedDirs } from '#server/workspaces/confirmed-dirs.ts';
import { writeDirectories } from '#server/workspaces/local-config.ts';
import { createRegistryWriter } from '#server/workspaces/registry-document.ts';
import { createTrust, type Trust } from '#server/workspaces/trust.ts';
import { createWorkspaces, type Workspaces } from '#server/workspaces/workspaces.ts';
import type { Disposers } from './disposers.ts';
import type { Home } from './open-home.ts';
import type { AppOptions } from './options.ts';

/** Opens the index of all sessions of the home. */
export function openIndex({ home, features }: AppOptions, { engineLog, instance }: Home): SessionIndex {
  const { log } = engineLog;
  const projections = features.flatMap((feature) => feature.projection ?? []);
  return createSessionIndex({
    db: createIndexDb({ home, schema: indexSchema, log }),
    log,
    sessionsDir: sessionsDir(home),
    read: (folder, known) => readSessionFolder(folder, known, { holder: instance.holder, projections, log }),
  });
}

export const sessionsDir = (home: string): string => join(home, 'sessions');

/** The log of the home, which also writes lines about a session into its folder. */
export function logOfSessions({ home }: AppOptions, { engineLog }: Home, index: SessionIndex): Logger {
  return engineLog.withSessions((id) => {
    try {
      const row = index.get(id);
      return row && join(sessionsDir(home), row.workspaceId, row.id);
    } catch {
      // Without the index the folder is unknown; the line is still written to the home's log file.
      return undefined;
    }
  });
}

export interface ProjectFolders {
  readonly workspaces: Workspaces;
  readonly trust: Trust;
  readonly projects: Projects;
  readonly additionalDirs: AdditionalDirs;
}

export interface ProjectFoldersDeps {
  options: AppOptions;
  home: Home;
  index: SessionIndex;
  runtime: Runtime;
  /** Called after the trust of a directory changed, before the change completes. */
  trustChanged(): Promise<void>;
  /** Warns sessions whose commands run: one of them may have made the change. */
  warnOfChange(change: GuardedChange): Promise<void>;
  log: Logger;
}

/** Opens the registry of projects, their trust and their directories. */
export function openProjectFolders(deps: ProjectFoldersDeps, opened: Disposers): ProjectFolders {
  const { options, home, index, runtime, trustChanged, warnOfChange, log } = deps;
  const { clock } = options;
  const { documents, globalStream, instance } = home;
  const { holder } = instance;
  const registryLock = join(options.home, 'workspaces.json.lock');
  const workspaces = opened.add(
    createWorkspaces({
      documents,
      lock: createChangeLock({ path: registryLock, holder, writer: createRegistryWriter(documents) }),
      index,
      publish: globalStream.publish,
      log,
      clock,
    }),
  );
  const trust = createTrust({
    documents,
    async changed() {
      additionalDirs.refresh();
      await trustChanged();
    },
    changedElsewhere(root, isTrusted, since) {
      const what = `${quoted(root)} is ${isTrusted ? 'trusted' : 'no longer trusted'}`;
      void warnOfChange({ what, by: undefined, since });
    },
    log,
    clock,
  });
  const { trusted } = trust;
  const projects = createProjects({ runtime, trusted });
  const confirmed = createConfirmedDirs(documents);
  const additionalDirs = createAdditionalDirs({
    lock: createChangeLock({ path: registryLock, holder, writer: { confirm: confirmed.add, writeDirectories } }),
    runtime,
    rootOf: projects.rootOf,
    trusted,
    confirmed,
    addedElsewhere(root, directories, since) {
      const more = directories.length > 1 ? ` and ${directories.length - 1} more` : '';
      const what = `${directories.slice(0, 1).map(quoted).join('')}${more} was added to the directories of ${quoted(root)}`;
      void warnOfChange({ what, by: undefined, since });
    },
    log,
    clock,
  });
  return { workspaces, trust, projects, additionalDirs };
}
