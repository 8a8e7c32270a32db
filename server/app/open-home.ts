/** The home and what all other parts need of it: token, log files, documents, events, lease, configuration. */
import { join } from 'node:path';
import { openToken, type TokenFile } from '#server/auth/token.ts';
import { createConfig, type Config } from '#server/config/config.ts';
import { createConfigWriter, type ConfigWriter } from '#server/config/config-writer.ts';
import { createEventBus, type EventBus } from '#server/events/bus.ts';
import { createGlobalStream, type GlobalStream, type GlobalStreamDeps } from '#server/events/global-stream.ts';
import { openHome as openHomeFolder } from '#server/home/home.ts';
import { registerInstance, type InstanceEntry } from '#server/home/instances.ts';
import { createEngineLog, type EngineLog } from '#server/logging/engine-log.ts';
import { createIdentity, type Identity } from '#server/account/identity.ts';
import { createChangeLock, type ChangeLock } from '#server/storage/change-lock.ts';
import { createDocuments, type Documents } from '#server/storage/documents.ts';
import { acquireLease, type LeaseHolder } from '#server/storage/lease.ts';
import { SERVER_VERSION } from '#server/version.ts';
import type { Disposers } from './disposers.ts';
import type { AppOptions } from './options.ts';

export interface Home {
  readonly token: TokenFile;
  readonly engineLog: EngineLog;
  readonly documents: Documents;
  readonly bus: EventBus;
  /** This server's entry among the running servers of the home. */
  readonly instance: InstanceEntry;
  readonly globalStream: GlobalStream;
  readonly config: Config;
  readonly identity: Identity;
}

const openGlobalStream = (home: string, holder: LeaseHolder, { sink, log }: Pick<GlobalStreamDeps, 'sink' | 'log'>) =>
  createGlobalStream({
    home,
    sink,
    log,
    async claim(folder) {
      const taken = await acquireLease(join(folder, 'lock'), holder);
      return 'lease' in taken ? taken.lease : undefined;
    },
  });

/** Opens the home. Throws `StartError` for faults that the user can fix; `opened` has all that is open by then. */
export async function openHome(
  options: AppOptions,
  server: { serverId: string; startedAt: number },
  opened: Disposers,
): Promise<Home> {
  const { home, host, port, basePath, certificate, clock } = options;
  await openHomeFolder(home);
  const token = await openToken(home);
  const engineLog = opened.add(createEngineLog({ home, env: options.env(), output: options.log }));
  const { log } = engineLog;
  const documents = opened.add(createDocuments({ home, drivers: options.documents }));
  const bus = createEventBus({ log });
  const demo = options.demo ? await (await import('#server/models/demo/server.ts')).startDemoModel() : undefined;
  if (demo) opened.add(demo);

  const registered = registerInstance({
    home,
    ...server,
    host,
    port,
    basePath,
    certificate,
    version: SERVER_VERSION,
    log,
  });
  /**
   * Lock of the configuration. The file is read while the server is still being registered, which creates the lock's
   * lease holder.
   */
  const configLock: ChangeLock<ConfigWriter> = {
    async hold(work) {
      const { holder } = await registered;
      const path = join(home, 'config.toml.lock');
      return createChangeLock({ path, holder, writer: createConfigWriter(home) }).hold(work);
    },
  };
  const memory = demo ? { memory: demo.configLayer } : {};
  // Concurrently, because each waits for the disk repeatedly.
  const opening = [
    registered.then(opened.add),
    registered.then(({ holder }) => openGlobalStream(home, holder, { sink: bus, log })).then(opened.add),
    createConfig({ home, env: options.env, log, clock, lock: configLock, ...memory }).then(opened.add),
    createIdentity({ documents, log }),
  ] as const;
  // If one fails, the resources that the others open must be closed, too.
  await Promise.allSettled(opening);
  const [instance, globalStream, config, identity] = await Promise.all(opening);
  config.onChanged((change) => globalStream.publish('event.config.changed', change));
  config.onWarnings((warnings) => globalStream.publish('event.config.warning', { warnings }));
  return { token, engineLog, documents, bus, instance, globalStream, config, identity };
}
