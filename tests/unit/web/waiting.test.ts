/** Sessions that wait for a person, and the tab that notifies of them. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Session } from '@service-code/client';
import { createNotifier, type Notifier } from '../../../web/features/waiting/one-notifier.ts';
import { changedWaiting, waitingSessions } from '../../../web/features/waiting/waiting.ts';

const session = (id: string, pending_interaction: Session['pending_interaction']) =>
  ({ id, pending_interaction }) as Session;

it('are listed with the longest waiting first', () => {
  const sessions = [session('a', 'approval'), session('b', 'none'), session('c', 'question')];
  expect(waitingSessions(sessions).map(({ id }) => id)).toEqual(['c', 'a']);
});

it('are news when they begin to wait or wait for something else, and over when they do not', () => {
  const waits = (...sessions: Session[]) => waitingSessions(sessions);
  const before = waits(session('a', 'approval'), session('b', 'approval'), session('c', 'question'));
  const { begun, ended } = changedWaiting(before, waits(session('a', 'approval'), session('b', 'question')));
  expect(begun.map(({ id }) => id)).toEqual(['b']);
  expect(ended).toEqual(['c']);
});

describe('of two hidden tabs', () => {
  let opened: Notifier[] = [];
  afterEach(() => {
    for (const notifier of opened) notifier.close();
    opened = [];
    vi.unstubAllGlobals();
  });

  /** A lock manager as browsers have it, for exclusive and shared locks of one origin. */
  function lockManager(): LockManager {
    const held: { name: string; mode: string }[] = [];
    const queues = new Map<string, Promise<void>>();
    async function request(name: string, { mode = 'exclusive' }: LockOptions, callback: () => Promise<void>) {
      const run = async (before: Promise<void> | undefined) => {
        await before;
        const lock = { name, mode };
        held.push(lock);
        await callback();
        held.splice(held.indexOf(lock), 1);
      };
      const running = run(mode === 'exclusive' ? queues.get(name) : undefined);
      if (mode === 'exclusive') queues.set(name, running);
      await running;
    }
    return { request, query: () => Promise.resolve({ held: [...held] }) } as unknown as LockManager;
  }

  function tab(locks: LockManager, visibilityState: string) {
    const document = Object.assign(new EventTarget(), { visibilityState });
    vi.stubGlobal('document', document);
    const notifier = createNotifier(locks, 'n');
    opened.push(notifier);
    /** Each tab has its document. */
    const mayNotify = () => {
      vi.stubGlobal('document', document);
      return notifier.mayNotify();
    };
    const show = (state: string) => {
      vi.stubGlobal('document', document);
      document.visibilityState = state;
      document.dispatchEvent(new Event('visibilitychange'));
    };
    return { mayNotify, show, close: notifier.close };
  }

  it('one notifies, and the other one after it was closed', async () => {
    const locks = lockManager();
    const [one, two] = [tab(locks, 'hidden'), tab(locks, 'hidden')];
    await expect.poll(() => one.mayNotify()).toBe(true);
    expect(await two.mayNotify()).toBe(false);
    one.close();
    await expect.poll(() => two.mayNotify()).toBe(true);
  });

  it('none notifies while a third one is visible', async () => {
    const locks = lockManager();
    const one = tab(locks, 'hidden');
    const seen = tab(locks, 'visible');
    await expect.poll(async () => (await locks.query()).held).toHaveLength(2);
    expect(await one.mayNotify()).toBe(false);
    seen.show('hidden');
    await expect.poll(() => one.mayNotify()).toBe(true);
  });
});
