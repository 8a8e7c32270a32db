/** Notices that a person has dismissed in this browser, by session. */
import { scopedName } from './page-root.ts';

/** More than the number of such notices in a transcript. */
const MOST = 100;

const keyOf = (sessionId: string) => scopedName(`dismissed.${sessionId}`);

export const dismissedNotices = (sessionId: string): string[] =>
  (localStorage.getItem(keyOf(sessionId)) ?? '').split(' ').filter(Boolean);

export function dismissNotice(sessionId: string, id: string): void {
  localStorage.setItem(keyOf(sessionId), [...dismissedNotices(sessionId), id].slice(-MOST).join(' '));
}
