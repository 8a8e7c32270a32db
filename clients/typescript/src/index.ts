export { createClient, type Client, type ClientOptions } from './client.ts';
export { coalesced } from './coalesced.ts';
export { ApiError, ConnectionError, isUnauthorized, reasonOf, RelayError } from './errors.ts';
export type * from './frames.ts';
export { onGlobalResync } from './global-resync.ts';
export type {
  BytesOperation,
  CallOptions,
  DocumentOperation,
  Operation,
  Reply,
  RequestArguments,
  RequestBody,
  RequestOptions,
  UploadOptions,
} from './operations.ts';
export { createPromptSender, type PromptSender } from './prompt-sender.ts';
export { createRest, type Rest, type RestOptions } from './rest.ts';
export { createSignal, type Signal } from './signal.ts';
export {
  createSocket,
  type Connection,
  type Socket,
  type SocketConstructor,
  type SocketLike,
  type SocketOptions,
} from './socket.ts';
export { applyOps, emptyTranscript, itemId, prependItems, type Applied, type TranscriptState } from './transcript.ts';
export { type TranscriptFollower, type TranscriptListener } from './transcript-feed.ts';
export * from './types.ts';
export type { UploadRequest } from './upload.ts';
