/** The agent's model client: selects the wire protocol, loads its SDK lazily, rejects empty responses. */
import type { Timeouts } from '#server/net/dispatcher.ts';
import { createTransport, type Transport } from '#server/net/fetch.ts';
import { emptyResponse } from './errors.ts';
import type { ModelRequest, ModelResponse, Protocol, ProtocolName, StreamPart, VideoUpload } from './types.ts';

export interface ModelClient {
  /**
   * Sends one streaming request. `onPart` is called as parts arrive. Rejects with a `ModelError`, also for an empty
   * response, or with the signal's reason on abort.
   */
  streamModel(request: ModelRequest, onPart: (part: StreamPart) => void): Promise<ModelResponse>;
  protocol(name: ProtocolName): Promise<Protocol>;
  /** Preloads the modules that the first request of a protocol needs. */
  load(name: ProtocolName): Promise<void>;
  /** Uploads a video and returns its id at the model's provider. Rejects as `streamModel`. */
  uploadVideo(upload: VideoUpload): Promise<string>;
  /** Closes the sockets; running requests fail. */
  close(): Promise<void>;
}

/** @param options.timeouts connect, first-byte and idle time-outs; tests shorten them. */
export function createModelClient(options: { timeouts?: Timeouts } = {}): ModelClient {
  const transport = createTransport(options.timeouts);
  const loaded = new Map<ProtocolName, Promise<Protocol>>();

  function protocol(name: ProtocolName): Promise<Protocol> {
    let pending = loaded.get(name);
    if (pending) return pending;
    pending = load(name, transport);
    loaded.set(name, pending);
    // A failed import is not cached, so the next request retries.
    pending.catch(() => loaded.delete(name));
    return pending;
  }

  return {
    protocol,
    async load(name) {
      await transport.load();
      await (await protocol(name)).load?.();
    },
    async streamModel(request, onPart) {
      request.signal.throwIfAborted();
      const { stream } = await protocol(request.model.protocol);
      const response = await withOwnSignal(request, (own) => stream(own, onPart));
      const visible = response.parts.some((part) => part.type === 'text' && part.text.trim() !== '');
      if (!visible && response.calls.length === 0 && response.finishReason !== 'filtered') {
        throw emptyResponse(response.rawFinishReason);
      }
      return response;
    },
    async uploadVideo(upload) {
      const { name, uploadVideo } = await protocol(upload.model.protocol);
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

async function load(name: ProtocolName, transport: Transport): Promise<Protocol> {
  switch (name) {
    case 'native':
      return (await import('./protocols/native.ts')).createNative(transport);
    case 'openai':
      return (await import('./protocols/openai.ts')).createOpenAI(transport);
    case 'openai_responses':
      return (await import('./protocols/openai-responses.ts')).createOpenAIResponses(transport);
    case 'anthropic':
      return (await import('./protocols/anthropic.ts')).createAnthropic(transport);
    case 'google-genai':
      return (await import('./protocols/google-genai.ts')).createGoogle(transport);
  }
}
