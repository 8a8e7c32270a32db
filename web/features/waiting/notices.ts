/** Notifications of the browser about sessions that wait, one for each session. */
import { watch } from 'vue';
import { t } from '../../messages/messages.ts';
import { titleOf } from '../../messages/session-title.ts';
import { pageRoot, scopedName } from '../../stores/page-root.ts';
import type { Workbench } from '../../stores/workbench.ts';
import { goToRequest } from './go-to-request.ts';
import { createNotifier } from './one-notifier.ts';
import { playSound } from './sound.ts';
import { isNotifying, isSounding } from './preferences.ts';
import { changedWaiting, waitingSessions, type Waiting } from './waiting.ts';

/** The script is next to the page, so its scope is the page's path. */
const SCRIPT = 'notifications.js';
/** Sent by the script after a click. */
const SHOW_SESSION = 'service-code.show-session';
const ICON_LINK = 'link[rel=icon]';

const root = () => new URL(pageRoot().base, location.href);
const tagOf = (sessionId: string) => `${scopedName('waits')}${sessionId}`;

/** Undefined where the browser has no service workers, as in a context that is not secure. */
export const registration = async (): Promise<ServiceWorkerRegistration | undefined> => {
  if (!('serviceWorker' in navigator)) return undefined;
  const { pathname } = root();
  await navigator.serviceWorker.register(new URL(SCRIPT, root()), { scope: pathname });
  return navigator.serviceWorker.ready;
};

async function show({ id, pending_interaction, ...session }: Waiting): Promise<void> {
  const url = new URL(`#/s/${id}`, root()).href;
  const worker = await registration();
  await worker?.showNotification(titleOf({ id, pending_interaction, ...session }), {
    body: t(pending_interaction === 'approval' ? 'waiting.notice-approval' : 'waiting.notice-question'),
    tag: tagOf(id),
    icon: new URL('icon-waiting.svg', root()).href,
    data: { sessionId: id, url },
  });
}

async function close(id: string): Promise<void> {
  const worker = await navigator.serviceWorker?.getRegistration(root());
  for (const notice of (await worker?.getNotifications({ tag: tagOf(id) })) ?? []) notice.close();
}

/** Marks the icon of the tab while a session waits. */
function markIcon(isWaiting: boolean): void {
  const link = document.querySelector<HTMLLinkElement>(ICON_LINK);
  const href = new URL(isWaiting ? 'icon-waiting.svg' : 'icon.svg', root()).href;
  if (link && link.href !== href) link.href = href;
}

/** Notifies until the page is closed. */
export function startNotices(workbench: Workbench): void {
  // Locks, too, exist in secure contexts only. Elsewhere each hidden tab plays the sound.
  const notifier = 'locks' in navigator ? createNotifier(navigator.locks, scopedName('notifier')) : undefined;
  const mayNotify = async () => (notifier ? notifier.mayNotify() : document.visibilityState !== 'visible');
  let before: Waiting[] | undefined;

  async function notify(begun: readonly Waiting[], ended: readonly string[]) {
    await Promise.all(ended.map(close));
    if (begun.length === 0 || !(await mayNotify())) return;
    if (isNotifying.value) await Promise.all(begun.map(show));
    if (isSounding.value) playSound();
  }

  watch(
    () => waitingSessions(workbench.list.value.sessions),
    (now) => {
      markIcon(now.length > 0);
      // Sessions that waited when the page was opened are no news.
      const { begun, ended } = changedWaiting(before ?? now, now);
      before = now;
      if (begun.length > 0 || ended.length > 0) void notify(begun, ended).catch(() => undefined);
    },
  );
  navigator.serviceWorker?.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (typeof data !== 'object' || data === null || Reflect.get(data, 'type') !== SHOW_SESSION) return;
    const id: unknown = Reflect.get(data, 'sessionId');
    if (typeof id === 'string') goToRequest(workbench, id);
  });
}
