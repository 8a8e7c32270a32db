/**
 * One renewal of a credential at a time, in the process and among the servers of a home: a refresh token may be valid
 * for a single use. A removal cancels the running renewal. A renewed credential that cannot be written, for example to
 * a full disk, stays in memory, because the stored one is spent.
 */
import { isDeepStrictEqual } from 'node:util';

export interface Renewal<Stored, Writer> {
  /** The credential at present, read under the lock: another server may have renewed or removed it. */
  stored: Stored | undefined;
  /** Writes the credential while this server owns the lock. */
  writer: Writer;
  /** Replaces the credential by a renewed one. If that fails, it is used from memory and written again later. */
  replace(renewed: Stored): Promise<void>;
  /** Aborted when the credential is removed or replaced: nothing may be written then. */
  cancelled: AbortSignal;
}

export interface RenewalsDeps<Stored, Writer> {
  read(id: string): Promise<Stored | undefined>;
  write(writer: Writer, id: string, credential: Stored): Promise<void>;
  /** Runs `work` under the lock that the servers of the home share. */
  change<T>(id: string, work: (writer: Writer) => Promise<T>): Promise<T>;
  /** Called when a renewed credential could not be written. */
  onUnsaved?(id: string, error: unknown): void;
}

export interface Renewals<Stored, Writer, Outcome> {
  /**
   * Reads a credential: the stored one, or the one to which it was renewed if that could not be written. Each read
   * starts to write the latter again.
   */
  read(id: string): Promise<Stored | undefined>;
  /**
   * Joins a running renewal of the credential, or starts `renew` under the lock. A forced call joins only a forced
   * renewal; it waits for an ordinary one to settle and then starts another. Rejects as `renew` and `change` do.
   */
  run(
    id: string,
    renew: (renewal: Renewal<Stored, Writer>) => Promise<Outcome>,
    options?: { forced?: boolean },
  ): Promise<Outcome>;
  /** Cancels the running renewal of a credential that is removed or replaced. */
  cancel(id: string): void;
  /** Forgets a credential that could not be written; called after the stored one was removed. */
  forget(id: string): void;
  /** Resolves when the renewals that are running now have settled. */
  settled(): Promise<void>;
  /** Attempts to write all credentials that could not be written; never rejects. */
  flush(): Promise<void>;
}

export function createRenewals<Stored, Writer, Outcome>(
  deps: RenewalsDeps<Stored, Writer>,
): Renewals<Stored, Writer, Outcome> {
  const { change, onUnsaved } = deps;
  const running = new Map<string, { outcome: Promise<Outcome>; forced: boolean; cancel: AbortController }>();
  /** Renewed credentials that are not written yet, with the stored ones that they replace. */
  const unsaved = new Map<string, { credential: Stored; replaced: Stored | undefined }>();
  const writes = new Map<string, Promise<void>>();

  /** The unsaved credential, while the one that it replaces is stored. */
  async function unsavedOf(id: string): Promise<{ stored: Stored | undefined; credential?: Stored }> {
    // Before the file is read: a write may remove it in between.
    const kept = unsaved.get(id);
    const stored = await deps.read(id);
    if (!kept) return { stored };
    if (isDeepStrictEqual(stored, kept.replaced)) return { stored, credential: kept.credential };
    // A login, a removal or another server has changed the file since.
    if (unsaved.get(id) === kept) unsaved.delete(id);
    return { stored };
  }

  function writeAgain(id: string): void {
    if (writes.has(id)) return;
    const write = change(id, async (writer) => {
      const { credential } = await unsavedOf(id);
      if (credential === undefined) return;
      await deps.write(writer, id, credential);
      unsaved.delete(id);
    });
    // The first failure was reported; the next read tries again.
    const settled = write.catch(() => undefined).finally(() => writes.delete(id));
    writes.set(id, settled);
  }

  async function renewal(id: string, writer: Writer, cancelled: AbortSignal): Promise<Renewal<Stored, Writer>> {
    const { stored, credential } = await unsavedOf(id);
    return {
      stored: credential ?? stored,
      writer,
      cancelled,
      async replace(renewed) {
        try {
          await deps.write(writer, id, renewed);
          unsaved.delete(id);
        } catch (error) {
          unsaved.set(id, { credential: renewed, replaced: stored });
          onUnsaved?.(id, error);
        }
      },
    };
  }

  return {
    async read(id) {
      const { stored, credential } = await unsavedOf(id);
      if (credential === undefined) return stored;
      writeAgain(id);
      return credential;
    },
    async run(id, renew, { forced = false } = {}) {
      for (let current = running.get(id); current; current = running.get(id)) {
        if (!forced || current.forced) return current.outcome;
        await current.outcome.catch(() => undefined);
      }
      const cancel = new AbortController();
      const work = () => change(id, async (writer) => renew(await renewal(id, writer, cancel.signal)));
      const outcome = work().finally(() => {
        if (running.get(id)?.cancel === cancel) running.delete(id);
      });
      running.set(id, { outcome, forced, cancel });
      return outcome;
    },
    cancel(id) {
      running.get(id)?.cancel.abort();
      // Later calls must not join it: the credential may have been replaced by then.
      running.delete(id);
    },
    forget: (id) => void unsaved.delete(id),
    async settled() {
      await Promise.allSettled([...running.values()].map(({ outcome }) => outcome));
    },
    async flush() {
      for (const id of unsaved.keys()) writeAgain(id);
      await Promise.all(writes.values());
    },
  };
}
