/** The names of clients that answered or changed something, other than this tab. */
import type { TranscriptCaller } from '#schema/caller.ts';
import { visibleLine } from '#server/visible-text.ts';

/**
 * "by curl/8.5 (127.0.0.1), not from this page"; undefined for this tab and where no client is recorded. `ownId` is the id
 * that the server records this tab with.
 */
export function otherCallerText(by: TranscriptCaller | undefined, ownId: string | undefined): string | undefined {
  if (!by || Object.keys(by).length === 0) return undefined;
  const { clientName, clientId, userAgent, remoteAddress } = by;
  if (clientId !== undefined && clientId === ownId) return undefined;
  const name = clientName ?? userAgent?.split(' ', 1)[0] ?? 'an unnamed client';
  return `by ${visibleLine(name)}${remoteAddress === undefined ? '' : ` (${remoteAddress})`}, not from this page`;
}
