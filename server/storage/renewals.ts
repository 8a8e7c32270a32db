/**
 * One renewal of a credential at a time, in the process and among the servers of a home: a refresh token may be valid
 * for a single use. A removal cancels the running renewal.
 */

export interface Renewal<Stored, Writer> {
  /** The credential as it is stored now, read under the lock: another server may have renewed or removed it. */
  stored: Stored | undefined;
  /** Writes the credential while this server owns the lock. */
  writer: Writer;
  /** Aborted when the credential is removed or replaced: nothing may be written then. */
  cancelled: AbortSignal;
}

export interface RenewalsDeps<Stored, Writer> {
  read(id: string): Promise<Stored | undefined>;
  /** Runs `work` under the lock that the servers of the home share. */
  change<T>(id: string, work: (writer: Writer) => Promise<T>): Promise<T>;
}

export interface Renewals<Stored, Writer, Outcome> {
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
  /** Resolves when the renewals that are running now have settled. */
  settled(): Promise<void>;
}

export function createRenewals<Stored, Writer, Outcome>({
  read,
  change,
}: RenewalsDeps<Stored, Writer>): Renewals<Stored, Writer, Outcome> {
  const running = new Map<string, { outcome: Promise<Outcome>; forced: boolean; cancel: AbortController }>();

  return {
    async run(id, renew, { forced = false } = {}) {
      for (let current = running.get(id); current; current = running.get(id)) {
        if (!forced || current.forced) return current.outcome;
        await current.outcome.catch(() => undefined);
      }
      const cancel = new AbortController();
      const work = () =>
        change(id, async (writer) => renew({ stored: await read(id), writer, cancelled: cancel.signal }));
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
    async settled() {
      await Promise.allSettled([...running.values()].map(({ outcome }) => outcome));
    },
  };
}
