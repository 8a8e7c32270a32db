/** The agent's way to a model: picks the wire protocol, loads its SDK on first use, refuses empty answers. */
import type { Timeouts } from '#server/net/dispatcher.ts';
import { createTransport, type Transport } from '#server/net/fetch.ts';
import { emptyResponse } from './errors.ts';
import type { ModelRequest, ModelResponse, Protocol, ProtocolName, StreamPart, VideoUpload } from './types.ts';

export interface ModelClient {
  /**
   * One streaming request. `onPart` is called as parts arrive. Rejects with a `ModelError`, also for an empty
   * answer, or, on abort, with the signal's reason.
   */
  streamModel(request: ModelRequest, onPart: (part: StreamPart) => void): Promise<ModelResponse>;
  protocol(name: ProtocolName): Promise<Protocol>;
  /** Loads what the first request of a protocol loads otherwise. */
  load(name: ProtocolName): Promise<void>;
  /** Id of a video at the provider of a model whose protocol takes one. Rejects as `streamModel`. */
  uploadVideo(upload: VideoUpload): Promise<string>;
  /** Closes the sockets; running requests fail. */
  close(): Promise<void>;
}

/** @param options.timeouts connect, first byte and idle time-outs; tests shorten them. */
export function createModelClient(options: { timeouts?: Timeouts } = {}): ModelClient {
  const transport = createTransport(options.timeouts);
  const loaded = new Map<ProtocolName, Promise<Protocol>>();

  function protocol(name: ProtocolName): Promise<Protocol> {
    let pending = loaded.get(name);
    if (pending) return pending;
    pending = load(name, transport);
    loaded.set(name, pending);
    // The next request tries again.
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

/** SDKs leave their listeners on the signal they are given; one that lives for many requests must not collect them. */
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
