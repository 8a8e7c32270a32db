/** The names of clients that answered or changed something, other than this tab. */
import type { Caller, EventFrame, TranscriptCaller } from '@service-code/client';
import { visibleLine } from '@service-code/client/text';

/**
 * "by curl/8.5 (127.0.0.1), not from this page"; undefined for this tab and where no client is recorded. `ownId` is the
 * id that the server records this tab with.
 */
export function otherCallerText(by: TranscriptCaller | undefined, ownId: string | undefined): string | undefined {
  if (!by || Object.keys(by).length === 0) return undefined;
  const { clientName, clientId, userAgent, remoteAddress } = by;
  if (clientId !== undefined && clientId === ownId) return undefined;
  const name = clientName ?? userAgent?.split(' ', 1)[0] ?? 'an unnamed client';
  return `by ${visibleLine(name)}${remoteAddress === undefined ? '' : ` (${remoteAddress})`}, not from this page`;
}

const inTranscripts = ({ client_name, client_id, user_agent, remote_address }: Caller): TranscriptCaller => ({
  ...(client_name === undefined ? {} : { clientName: client_name }),
  ...(client_id === undefined ? {} : { clientId: client_id }),
  ...(user_agent === undefined ? {} : { userAgent: user_agent }),
  ...(remote_address === undefined ? {} : { remoteAddress: remote_address }),
});

/** A sentence about settings or a workspace that another client changed; undefined for other events. */
export function changeElsewhereText(frame: EventFrame, ownId: string | undefined): string | undefined {
  if (frame.type !== 'event.config.changed' && frame.type !== 'event.workspace.updated') return undefined;
  const { by } = frame.payload;
  const origin = by && otherCallerText(inTranscripts(by), ownId);
  if (origin === undefined) return undefined;
  return frame.type === 'event.config.changed'
    ? `Settings (${frame.payload.changedFields.join(', ')}) were changed ${origin}.`
    : `Name, trust or directories of ${visibleLine(frame.payload.workspace.root)} were changed ${origin}.`;
}
