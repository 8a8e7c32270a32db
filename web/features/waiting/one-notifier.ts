/** One of the page's tabs shows notifications, and none while a tab is visible. */

export interface Notifier {
  /** Whether this tab is the one to show a notification now. */
  mayNotify(): Promise<boolean>;
  close(): void;
}

/** Locks are released when their tab is closed. `name` contains the server's path. */
export function createNotifier(locks: LockManager, name: string): Notifier {
  const closed = new AbortController();
  const { signal } = closed;
  let isChosen = false;
  let release: (() => void) | undefined;

  const hold = (lock: string, options: LockOptions, held: () => Promise<void>) =>
    void locks.request(lock, options, held).catch(() => undefined);
  const untilClosed = () => new Promise<void>((done) => signal.addEventListener('abort', () => done()));

  hold(name, { signal }, () => {
    isChosen = true;
    return untilClosed();
  });

  /** A visible tab holds a lock that others can query. */
  function update() {
    release?.();
    release = undefined;
    if (document.visibilityState !== 'visible') return;
    const hidden = new Promise<void>((done) => (release = done));
    hold(`${name}.visible`, { mode: 'shared' }, () => hidden);
  }
  update();
  document.addEventListener('visibilitychange', update, { signal });

  return {
    async mayNotify() {
      if (!isChosen || document.visibilityState === 'visible') return false;
      const { held = [] } = await locks.query();
      return !held.some((lock) => lock.name === `${name}.visible`);
    },
    close() {
      closed.abort();
      release?.();
    },
  };
}
