/**
 * WebSocket frames that clients send, and their acks. The gateway validates with these schemas; `/asyncapi.json` and the
 * web client's types are derived from them.
 */
import * as z from 'zod';
import { abortFrame } from './prompts.ts';
import { clientHelloFrame, pingFrame, subscribeFrame, unsubscribeFrame } from './subscriptions.ts';
import { subscribeV2Frame, unsubscribeV2Frame } from './transcripts.ts';
import { watchAddFrame, watchRemoveFrame } from './watches.ts';
import {
  terminalAttachFrame,
  terminalCloseFrame,
  terminalDetachFrame,
  terminalInputFrame,
  terminalResizeFrame,
} from './terminals.ts';

/** Request frame of a client. Without `ack` it has a reply of another type and is not documented. */
export interface RequestFrame {
  readonly type: string;
  readonly summary: string;
  readonly payload: z.ZodType;
  readonly ack?: z.ZodType;
  /** Payload of a refusing ack, if this frame has a specific one. */
  readonly refusal?: z.ZodType;
}

/** All request frames. A new frame needs an entry here and a handler that its domain registers. */
export const requestFrames = [
  clientHelloFrame,
  subscribeFrame,
  unsubscribeFrame,
  subscribeV2Frame,
  unsubscribeV2Frame,
  abortFrame,
  watchAddFrame,
  watchRemoveFrame,
  terminalAttachFrame,
  terminalDetachFrame,
  terminalInputFrame,
  terminalResizeFrame,
  terminalCloseFrame,
  pingFrame,
] as const;

type Declared = (typeof requestFrames)[number];
type Acked = Extract<Declared, { ack: z.ZodType }>;
/** Request frames that get an ack. */
export type RequestType = Acked['type'];
type FrameOf<T extends RequestType> = Extract<Acked, { type: T }>;
export type RequestPayload<T extends RequestType> = z.output<FrameOf<T>['payload']>;

/** Echoed with the type in which the client sent it; `""` if the frame had none. */
export const frameId = z.union([z.string(), z.number()]);
export type FrameId = z.infer<typeof frameId>;

/** Payloads that the ack of any frame may have if its code is not 0. */
const invalidPayload = z.object({ details: z.array(z.object({ path: z.string(), message: z.string() })) });
const failed = z.object({ message: z.string() });
const refused = z.strictObject({});

/** The ack of one request frame, successful or refused. */
export function ackSchema({ ack, refusal }: Pick<RequestFrame, 'refusal'> & { ack: z.ZodType }) {
  const refusals = z.union(refusal ? [invalidPayload, failed, refusal, refused] : [invalidPayload, failed, refused]);
  return z.union([
    z.object({ type: z.literal('ack'), id: frameId, code: z.literal(0), msg: z.literal('success'), payload: ack }),
    z.object({
      type: z.literal('ack'),
      id: frameId,
      code: z.number().int().min(1),
      msg: z.string(),
      payload: refusals,
    }),
  ]);
}
