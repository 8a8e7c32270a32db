/** The names of clients that answered or changed something, other than this tab. */
import type { Caller, EventFrame, TranscriptCaller } from '@service-code/client';
import { visibleLine } from '@service-code/client/text';
import { message, type Message } from '../messages/messages.ts';

interface Other {
  /** Its name or program; undefined for an unnamed one. */
  name: string | undefined;
  address: string | undefined;
}

/** Undefined for this tab and where no client is recorded. `ownId` is the id that the server records this tab with. */
function otherCaller(by: TranscriptCaller | undefined, ownId: string | undefined): Other | undefined {
  if (!by || Object.keys(by).length === 0) return undefined;
  const { clientName, clientId, userAgent, remoteAddress: address } = by;
  if (clientId !== undefined && clientId === ownId) return undefined;
  const name = clientName ?? userAgent?.split(' ', 1)[0];
  return { name: name === undefined ? undefined : visibleLine(name), address };
}

/** "by curl/8.5 (127.0.0.1), not from this page"; undefined as for `otherCaller`. */
export function otherCallerText(by: TranscriptCaller | undefined, ownId: string | undefined): Message | undefined {
  const other = otherCaller(by, ownId);
  return other && message('caller.by', other);
}

const inTranscripts = ({ client_name, client_id, user_agent, remote_address }: Caller): TranscriptCaller => ({
  ...(client_name === undefined ? {} : { clientName: client_name }),
  ...(client_id === undefined ? {} : { clientId: client_id }),
  ...(user_agent === undefined ? {} : { userAgent: user_agent }),
  ...(remote_address === undefined ? {} : { remoteAddress: remote_address }),
});

/** A sentence about settings or a workspace that another client changed; undefined for other events. */
export function changeElsewhereText(frame: EventFrame, ownId: string | undefined): Message | undefined {
  if (frame.type !== 'event.config.changed' && frame.type !== 'event.workspace.updated') return undefined;
  const { by } = frame.payload;
  const other = by && otherCaller(inTranscripts(by), ownId);
  if (other === undefined) return undefined;
  return frame.type === 'event.config.changed'
    ? message('caller.settings', { ...other, fields: frame.payload.changedFields.join(', ') })
    : message('caller.workspace', { ...other, root: visibleLine(frame.payload.workspace.root) });
}
