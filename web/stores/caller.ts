/** What this tab calls itself, and the clients that answered elsewhere. */
import type { TranscriptCaller } from '#schema/caller.ts';

const KEY = 'service-code.client-id';

function tabId(): string {
  const known = sessionStorage.getItem(KEY);
  if (known !== null) return known;
  // `randomUUID` is missing on plain HTTP addresses other than loopback.
  const id = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  sessionStorage.setItem(KEY, id);
  return id;
}

export const caller = { name: 'service-code-web', id: tabId() };

/** "by curl/8.5 (127.0.0.1), not from this page"; undefined for this tab and where no client is recorded. */
export function otherCaller(by: TranscriptCaller | undefined): string | undefined {
  if (!by || Object.keys(by).length === 0 || by.clientId === caller.id) return undefined;
  const { clientName, userAgent, remoteAddress } = by;
  const name = clientName ?? userAgent?.split(' ', 1)[0] ?? 'an unnamed client';
  return `by ${name}${remoteAddress === undefined ? '' : ` (${remoteAddress})`}, not from this page`;
}
