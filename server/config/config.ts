/** The configuration service: one file, read section by section, changed by one server of the home at a time. */
import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { errorMessage, ServiceError } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Caller } from '#schema/rest/caller.ts';
import { domainSchemas } from '#schema/config/config.ts';
import type { ConfigObject, PermissionRuleConfig } from '#schema/config/config.ts';
import type { ConfigPatch } from '#schema/rest/config-patch.ts';
import { followLinks } from '#server/files/atomic-write.ts';
import { errorCode } from '#server/errors/errno.ts';
import type { Clock } from '#server/clock.ts';
import { coalesced } from '#server/async/coalesce.ts';
import { createSerialQueue } from '#server/async/keyed-queue.ts';
import { yieldToLoop } from '#server/async/yield.ts';
import type { ChangeLock } from '#server/storage/change-lock.ts';
import { createChangeWindow } from './changes.ts';
import type { Author, SeenChange } from './changes.ts';
import { CONFIG_FILE, type ConfigWriter } from './config-writer.ts';
import { isTomlTable, parseToml, subTable, tableOf, toTable } from './document.ts';
import type { TomlTable, TomlValue } from './document.ts';
import { editToml } from './document-edit.ts';
import { effectiveConfig } from './effective.ts';
import type { EffectiveConfig, MemoryLayer } from './effective.ts';
import { readModelVariables } from './environment-model.ts';
import type { ModelVariables } from './environment-model.ts';
import { deprecatedVariables } from './environment.ts';
import { resolveFlags } from './flags.ts';
import type { Flags } from './flags.ts';
import { patchDocument } from './patch.ts';
import { publicConfig } from './public-view.ts';
import { sectionToWire } from './key-case.ts';
import { domainIssues, domains, domainValue, readStored, sectionsOf, UNREADABLE_RULES } from './stored.ts';
import type { ConfigWarning, Domain, StoredConfig } from './stored.ts';
import { watchFile } from './watch.ts';

export interface ConfigChange {
  /** Sorted domain names. */
  changedFields: string[];
  /** With masked secrets. */
  config: ConfigObject;
  /** The client that made the whole change; undefined for an edit of the file, and for changes of several clients. */
  by?: Caller;
}

/** The state that a change of the file works on. */
export interface ConfigDraft {
  /** The present file layer, valid sections only. */
  readonly stored: StoredConfig;
  /** The parsed file in its own spelling; edit it in place. */
  readonly document: TomlTable;
}

export interface Config {
  /** All layers, with the present environment. Contains secrets. */
  effective(): EffectiveConfig;
  /** The file layer. Contains secrets. */
  stored(): StoredConfig;
  /** The present state of the file, as `update` passes it; nothing of it may be changed. Contains secrets. */
  draft(): ConfigDraft;
  /**
   * The permission rules in effect; the same array until they may have changed. Undefined if they are unknown, because
   * the file or its section has been broken since the start.
   */
  permissionRules(): readonly PermissionRuleConfig[] | undefined;
  /** The config object of the wire, secrets masked. */
  publicView(): ConfigObject;
  /** Merges a partial config object and writes the file. Throws `validation.failed` for each cause of failure. */
  patch(body: ConfigPatch, by?: Caller): Promise<ConfigObject>;
  /**
   * Edits the file: `change` runs under a lock of the home, on the file's content at that moment; if it throws, the
   * file is unchanged. Without a change, the file is not written. Throws `persistence.failure` if the file cannot be
   * read or written. `origin` lets listeners of `onSeen` recognize their own write.
   */
  update<Result>(change: (draft: ConfigDraft) => Result, by?: Caller, origin?: symbol): Promise<Result>;
  /** Checks the file now, without waiting for the watcher. */
  reload(): Promise<void>;
  /** The reason while the file cannot be read; it is not written then. Contains no value of the file. */
  unreadable(): string | undefined;
  resolveFlags(): Flags;
  /** Settings of all models from `SERVICE_MODEL_*`. */
  modelVariables(): ModelVariables;
  /** Calls the listener a single time for all changes within 200 ms. Returns the unsubscribe function. */
  onChanged(listener: (change: ConfigChange) => void): () => void;
  /**
   * Calls the listener immediately with each change, also with one of the file by another process. Returns the
   * unsubscribe function.
   */
  onSeen(listener: (change: SeenChange) => void): () => void;
  /**
   * Calls the listener with the present warnings, if any, and after each change of the list. Returns the unsubscribe
   * function.
   */
  onWarnings(listener: (warnings: ConfigWarning[]) => void): () => void;
  close(): Promise<void>;
}

/** The configuration in effect, read-only. */
export type ConfigReader = Pick<Config, 'effective' | 'resolveFlags'>;

/** The layer with the highest precedence, in the spelling of the file. */
export interface MemoryTables {
  providers: Record<string, unknown>;
  models: Record<string, unknown>;
  default_model?: string;
}

export interface ConfigDeps {
  home: string;
  env: () => NodeJS.ProcessEnv;
  log: Logger;
  clock: Clock;
  /** Lock of a change, from reading the file to replacing it. */
  lock: ChangeLock<ConfigWriter>;
  memory?: MemoryTables;
}

/** How long the parsed environment is cached. */
const ENVIRONMENT_AGE_MS = 250;

/** The content of the file at its last successful read. */
interface FileState {
  text: string;
  document: TomlTable;
  stored: StoredConfig;
  warnings: ConfigWarning[];
  rulesKnown: boolean;
}

const stateOf = (text: string, before?: FileState, document = parseToml(text)): FileState => ({
  text,
  document,
  ...readStored(document, before),
});

const NO_RULES: readonly PermissionRuleConfig[] = [];

/** Reads the file and watches it. The home directory must exist; a broken file results in defaults and a log line. */
export async function createConfig({ home, env, log, clock, lock, memory: tables }: ConfigDeps): Promise<Config> {
  const path = join(home, CONFIG_FILE);
  const memory = tables && memoryLayer(tables);
  const changedListeners = new Set<(change: ConfigChange) => void>();
  const seenListeners = new Set<(change: SeenChange) => void>();
  const warningListeners = new Set<(warnings: ConfigWarning[]) => void>();

  let state: FileState = { ...stateOf(''), rulesKnown: false };
  /** The reason while the file cannot be read; it is not written then. */
  let blocked: string | undefined;
  let warned: ConfigWarning[] = [];
  const queue = createSerialQueue();
  /** Stamp of the file that `state` was read from. */
  let read: Stamp | undefined;

  let known:
    | {
        of: FileState;
        from: NodeJS.ProcessEnv;
        readAt: number;
        config: EffectiveConfig;
        model: ModelVariables;
        flags: Flags;
      }
    | undefined;
  /**
   * All layers, cached: a turn reads them a dozen times, and each read of the environment parses some fifty variables.
   */
  function layers() {
    const from = env();
    const now = performance.now();
    if (known?.of !== state || known.from !== from || now - known.readAt > ENVIRONMENT_AGE_MS) {
      const config = effectiveConfig(state.stored, from, memory);
      const flags = resolveFlags(from, state.stored.experimental);
      known = { of: state, from, readAt: now, config, model: readModelVariables(from), flags };
    }
    return known;
  }
  const effective = () => layers().config;
  const publicView = () => publicConfig(effective(), state.document);

  /**
   * Reads the file into memory unless its stamp is unchanged, and sets `blocked` if that fails. Returns whether it was
   * read.
   */
  async function load(): Promise<boolean> {
    try {
      const stamp = await stampOf(path);
      if (blocked === undefined && sameFile(stamp, read)) return false;
      const text = await readText(path);
      read = stamp;
      if (text !== state.text || !state.rulesKnown) state = stateOf(text, state);
      if (blocked !== undefined) log.info('the configuration can be read again', { path });
      blocked = undefined;
    } catch (error) {
      const reason = errorMessage(error);
      if (blocked !== reason) log.error(`the configuration cannot be read: ${reason}`, { path });
      blocked = reason;
    }
    return true;
  }

  function tellWarnings(): void {
    const variables = env();
    const now: ConfigWarning[] = [
      ...state.warnings,
      ...(blocked !== undefined && !state.rulesKnown ? [UNREADABLE_RULES] : []),
      ...deprecatedVariables(variables),
      ...readModelVariables(variables).problems,
    ];
    if (isDeepStrictEqual(now, warned)) return;
    warned = now;
    for (const warning of now) log.warn(`configuration: ${warning.message}`, { domain: warning.domain });
    for (const listener of warningListeners) listener(now);
  }

  await load();
  tellWarnings();
  const window = createChangeWindow(
    clock,
    () => ({ effective: effective(), stored: state.stored }),
    (changedFields, by) => {
      const config = publicView();
      for (const listener of changedListeners) listener({ changedFields, config, ...(by ? { by } : {}) });
    },
    (change) => {
      for (const listener of seenListeners) listener(change);
    },
  );

  const reload = coalesced(() =>
    queue.run(async () => {
      if (!(await load())) return;
      tellWarnings();
      window.look();
    }),
  );
  // Other servers of the home write the target of a symbolic link, which a watcher of the link's directory does not
  // report.
  const watchers = [...new Set([path, await followLinks(path).catch(() => path)])].map((file) =>
    watchFile(dirname(file), basename(file), () => void reload(), log),
  );

  /** Writes the document that `change` returns; must run in the queue. */
  const write = (change: (before: FileState) => TomlTable, author: Author): Promise<void> =>
    lock.hold((writer) => writeAlone(change, writer, author));

  /** Writes the file; must run under the lock. */
  async function writeAlone(
    change: (before: FileState) => TomlTable,
    writer: ConfigWriter,
    author: Author,
  ): Promise<void> {
    // Another server may have replaced the file within the resolution of its timestamps.
    read = undefined;
    await load();
    if (blocked !== undefined) {
      const message = `Refusing to persist config: ${path} could not be read; fix the file and reload before writing.`;
      throw new ServiceError('persistence.failure', message);
    }
    window.look();
    const document = change(state);
    // Each of these steps takes a while for thousands of models.
    await yieldToLoop();
    if (isDeepStrictEqual(document, state.document)) return;
    try {
      const { text, commentsKept } = await editToml(state.text, document, state.document);
      if (!commentsKept) {
        await writer.backUp(state.text);
        log.warn('the configuration was written anew; the commented one is in config.toml.bak', { path });
      }
      await writer.write(text);
      state = stateOf(text, state, document);
    } catch (error) {
      // The write may have failed after the file was replaced, such as while syncing its directory.
      read = undefined;
      await load();
      throw new ServiceError('persistence.failure', `Failed to write ${path}: ${errorMessage(error)}`, {
        cause: error,
      });
    } finally {
      tellWarnings();
      window.look(author);
    }
  }

  return {
    effective,
    stored: () => state.stored,
    draft: () => ({ stored: state.stored, document: state.document }),
    permissionRules: () => (state.rulesKnown ? (state.stored.permission?.rules ?? NO_RULES) : undefined),
    publicView,
    reload,
    unreadable: () => blocked,
    resolveFlags: () => layers().flags,
    modelVariables: () => layers().model,
    async patch(body, by) {
      try {
        await queue.run(() => write(({ document }) => patchDocument(document, body, { env: env(), memory }), { by }));
      } catch (error) {
        if (error instanceof ServiceError && error.name === 'persistence.failure')
          throw new ServiceError('validation.failed', error.message, { cause: error });
        throw error;
      }
      return publicView();
    },
    update: (change, by, origin) =>
      queue.run(async () => {
        let outcome: { result: ReturnType<typeof change> } | undefined;
        await write(
          ({ document: before, stored }) => {
            const document = toTable(before);
            outcome = { result: change({ stored, document }) };
            removeEmpty(document, before);
            assertValid(document, { document: before, stored });
            return document;
          },
          { by, origin },
        );
        // `write` has called the function above or thrown.
        if (!outcome) throw new Error('the change did not run');
        return outcome.result;
      }),
    onChanged(listener) {
      changedListeners.add(listener);
      return () => void changedListeners.delete(listener);
    },
    onSeen(listener) {
      seenListeners.add(listener);
      return () => void seenListeners.delete(listener);
    },
    onWarnings(listener) {
      warningListeners.add(listener);
      if (warned.length > 0) listener(warned);
      return () => void warningListeners.delete(listener);
    },
    async close() {
      for (const watcher of watchers) watcher.close();
      window.close();
      changedListeners.clear();
      seenListeners.clear();
      warningListeners.clear();
      await queue.settled();
    },
  };
}

/** Identifies a version of the file; `at` is the time of the check, in ms. */
type Stamp = Pick<Stats, 'mtimeMs' | 'ctimeMs' | 'size' | 'ino'> & { at: number };

/** Two changes within one tick of the file system's clock have the same time. */
const CLOCK_TICK_MS = 100;

/** Returns the stamp of the file; undefined if it does not exist. */
async function stampOf(path: string): Promise<Stamp | undefined> {
  const at = Date.now();
  try {
    const { mtimeMs, ctimeMs, size, ino } = await stat(path);
    return { mtimeMs, ctimeMs, size, ino, at };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Whether the file is certainly unchanged since it was read. */
const sameFile = (now: Stamp | undefined, before: Stamp | undefined): boolean =>
  now !== undefined &&
  before !== undefined &&
  now.ino === before.ino &&
  now.size === before.size &&
  now.mtimeMs === before.mtimeMs &&
  now.ctimeMs === before.ctimeMs &&
  before.at - before.ctimeMs > CLOCK_TICK_MS;

/** Reads the file; empty if it does not exist. */
async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  }
}

/** Removes sections and records that the change has emptied. */
function removeEmpty(document: TomlTable, before: TomlTable): void {
  for (const [section, value] of Object.entries(document)) {
    if (!isTomlTable(value) || isDeepStrictEqual(value, before[section])) continue;
    for (const [key, member] of Object.entries(value)) {
      if (isTomlTable(member) && Object.keys(member).length === 0) delete value[key];
    }
    if (Object.keys(value).length === 0) delete document[section];
  }
}

/** Sections of records that are valid independently of each other. */
const RECORDS: readonly Domain[] = ['providers', 'models'];

/** Throws `persistence.failure` if a changed section would not load again. */
function assertValid(document: TomlTable, { document: before, stored }: Pick<FileState, 'document' | 'stored'>): void {
  for (const domain of domains) {
    // Compared before it is converted, because a file may have thousands of models.
    if (sectionsOf(domain).every((section) => isDeepStrictEqual(document[section], before[section]))) continue;
    const checked = RECORDS.includes(domain) && stored[domain] ? changedRecords(domain, document, before) : document;
    const value = domainValue(checked, domain);
    if (value === undefined) continue;
    if (checked === document && isDeepStrictEqual(value, domainValue(before, domain))) continue;
    const [issue] = domainIssues(domain, value);
    if (issue)
      throw new ServiceError('persistence.failure', `Refusing to persist config: ${issue.path}: ${issue.message}`);
  }
}

/** A document with the records of a section that differ from the valid ones of `before`. */
function changedRecords(domain: string, document: TomlTable, before: TomlTable): TomlTable {
  const records = subTable(document, domain);
  if (!records) return document;
  const valid = subTable(before, domain);
  const changed = Object.entries(records).filter(([id, record]) => !isDeepStrictEqual(record, valid?.[id]));
  return tableOf<TomlValue>([[domain, tableOf(changed)]]);
}

const memorySchema = z.object({ providers: domainSchemas.providers, models: domainSchemas.models });

function memoryLayer({ providers, models, default_model: defaultModel }: MemoryTables): MemoryLayer {
  const wire = {
    providers: sectionToWire('providers', tableOf(Object.entries(providers))),
    models: sectionToWire('models', tableOf(Object.entries(models))),
  };
  return { ...memorySchema.parse(wire), defaultModel };
}
