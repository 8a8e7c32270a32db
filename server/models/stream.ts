/** The agent's model client: selects the wire protocol, rejects empty responses. */
import type { Timeouts } from '#server/net/dispatcher.ts';
import { createTransport } from '#server/net/fetch.ts';
import { emptyResponse } from './errors.ts';
import { createModelTransport, type ModelLogins } from './model-transport.ts';
import { createAnthropic } from './protocols/anthropic.ts';
import { createGoogle } from './protocols/google-genai.ts';
import { createNative } from './protocols/native.ts';
import { createOpenAI } from './protocols/openai.ts';
import { createOpenAIResponses } from './protocols/openai-responses.ts';
import type { ModelRequest, ModelResponse, Protocol, ProtocolName, StreamPart, VideoUpload } from './types.ts';

export interface ModelClient {
  /**
   * Sends one streaming request. `onPart` is called as parts arrive. Rejects with a `ModelError`, also for an empty
   * response, or with the signal's reason on abort.
   */
  streamModel(request: ModelRequest, onPart: (part: StreamPart) => void): Promise<ModelResponse>;
  protocol(name: ProtocolName): Protocol;
  /** Preloads the libraries that the first request of a protocol needs. */
  load(name: ProtocolName): Promise<void>;
  /** Uploads a video and returns its id at the model's provider. Rejects as `streamModel`. */
  uploadVideo(upload: VideoUpload): Promise<string>;
  /** Closes the sockets; running requests fail. */
  close(): Promise<void>;
}

export interface ModelClientOptions {
  /** Obtains the access tokens of models with a login. */
  logins: ModelLogins;
  /** Connect, first-byte and idle time-outs; tests shorten them. */
  timeouts?: Timeouts;
}

export function createModelClient({ logins, timeouts }: ModelClientOptions): ModelClient {
  const transport = createTransport(timeouts);
  const authorized = createModelTransport(transport, logins);
  const protocols: Record<ProtocolName, Protocol> = {
    native: createNative(authorized),
    openai: createOpenAI(authorized),
    openai_responses: createOpenAIResponses(authorized),
    anthropic: createAnthropic(authorized),
    'google-genai': createGoogle(authorized),
  };

  return {
    protocol: (name) => protocols[name],
    async load(name) {
      await transport.load();
      await protocols[name].load?.();
    },
    async streamModel(request, onPart) {
      request.signal.throwIfAborted();
      const { stream } = protocols[request.model.protocol];
      const response = await withOwnSignal(request, (own) => stream(own, onPart));
      const visible = response.parts.some((part) => part.type === 'text' && part.text.trim() !== '');
      if (!visible && response.calls.length === 0 && response.finishReason !== 'filtered') {
        throw emptyResponse(response.rawFinishReason);
      }
      return response;
    },
    async uploadVideo(upload) {
      const { name, uploadVideo } = protocols[upload.model.protocol];
      if (!uploadVideo) throw new Error(`the protocol ${name} takes no videos`);
      return uploadVideo(upload);
    },
    close: () => transport.close(),
  };
}

/** SDKs never remove their listeners; on a signal that outlives many requests they would accumulate. */
async function withOwnSignal<T>(request: ModelRequest, send: (request: ModelRequest) => Promise<T>): Promise<T> {
  const own = new AbortController();
  const onAbort = () => own.abort(request.signal.reason);
  request.signal.throwIfAborted();
  request.signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await send({ ...request, signal: own.signal });
  } finally {
    request.signal.removeEventListener('abort', onAbort);
  }
}
