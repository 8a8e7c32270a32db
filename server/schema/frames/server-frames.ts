/**
 * All frames that the server sends on its own, other than events. `/asyncapi.json`, the tests of the encoders and the
 * web client's dispatch follow from this list; a new frame is one declaration and one line here. The server itself only
 * imports its types.
 */
import type * as z from 'zod';
import { filesChangedFrame } from './files-changed.ts';
import { errorFrame, pongFrame, resyncRequiredFrame, serverHelloFrame } from './system.ts';
import { terminalExitFrame, terminalOutputFrame, terminalResizedFrame } from './terminals.ts';
import { transcriptOpsFrame, transcriptResetFrame } from './transcript-updates.ts';

/** A frame with a form of its own. Without a summary it is not documented. */
export interface ServerFrame {
  readonly type: string;
  readonly summary?: string;
  readonly schema: z.ZodType;
}

export const serverFrames = [
  serverHelloFrame,
  pongFrame,
  resyncRequiredFrame,
  errorFrame,
  filesChangedFrame,
  terminalOutputFrame,
  terminalExitFrame,
  terminalResizedFrame,
] as const satisfies readonly ServerFrame[];

/** Frames with the form of an event; only their payload is their own. */
export const eventLikeFrames = [transcriptResetFrame, transcriptOpsFrame] as const;

type Sent = (typeof serverFrames)[number];
type EventLike = (typeof eventLikeFrames)[number];

/** A frame by its type; one with the form of an event has at least these members. */
export type ServerFrames = { [F in Sent as F['type']]: z.infer<F['schema']> } & {
  [F in EventLike as F['type']]: { type: F['type']; session_id: string; payload: z.infer<F['payload']> };
};
export type ServerFrameType = keyof ServerFrames;

export type FilesChanged = ServerFrames['event.fs.changed'];
/** Frames that connections attached to a terminal receive. */
export type TerminalFrame = ServerFrames['terminal_output' | 'terminal_exit' | 'terminal_resized'];
