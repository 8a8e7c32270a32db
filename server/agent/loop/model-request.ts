/**
 * One streaming model request of a step: publishes deltas as they arrive, makes call ids unique, and retains what was
 * received, so that an abort or a final failure can record it.
 */
import type { ModelRequest, ModelResponse, StreamPart } from '#server/models/types.ts';
import type { Part, ToolCall } from '#schema/engine.ts';

export interface StreamTimings {
  llmFirstTokenLatencyMs?: number;
  llmStreamDurationMs?: number;
  llmRequestBuildMs?: number;
  llmServerFirstTokenMs?: number;
  llmServerDecodeMs?: number;
  llmClientConsumeMs?: number;
}

/** Receives the deltas of an answer, which are published to clients. */
export interface StreamListener {
  text(delta: string): void;
  thinking(delta: string): void;
  call(toolCallId: string, name: string, argumentsPart: string): void;
}

export interface Received {
  /** Adjacent deltas of a kind are joined; the provider's opaque members are missing until the response is complete. */
  parts: Part[];
  calls: ToolCall[];
}

export interface StepStream {
  received: Received;
  /** Resolves with the complete answer, its calls under their unique ids. */
  response: Promise<{ response: ModelResponse; timings: StreamTimings }>;
}

export interface StepStreamDeps {
  stream(request: ModelRequest, onPart: (part: StreamPart) => void): Promise<ModelResponse>;
  /** Call ids that this agent's history already uses. */
  usedCallIds: ReadonlySet<string>;
  listener: StreamListener;
  /** Time at which building the request began, from `performance.now()`. */
  startedAt: number;
}

/** Starts the request. */
export function streamResponse(request: ModelRequest, deps: StepStreamDeps): StepStream {
  const received: Received = { parts: [], calls: [] };
  const byIndex = new Map<number, ToolCall>();
  const claimed = new Set<string>();
  const sentAt = performance.now();
  let firstAt: number | undefined;
  let consumed = 0;

  function uniqueId(id: string): string {
    let unique = id;
    for (let n = 2; deps.usedCallIds.has(unique) || claimed.has(unique); n++) unique = `${id}__${n}`;
    claimed.add(unique);
    return unique;
  }

  function take(part: StreamPart): void {
    if (part.type === 'text') {
      const last = received.parts.at(-1);
      if (last?.type === 'text') last.text += part.text;
      else received.parts.push({ type: 'text', text: part.text });
      deps.listener.text(part.text);
    } else if (part.type === 'think') {
      const last = received.parts.at(-1);
      if (last?.type === 'think') last.think += part.text;
      else received.parts.push({ type: 'think', think: part.text });
      deps.listener.thinking(part.text);
    } else if (part.type === 'call') {
      const call: ToolCall = {
        id: uniqueId(part.id),
        name: part.name,
        arguments: '',
        ...(part.extras ? { extras: part.extras } : {}),
      };
      byIndex.set(part.index, call);
      received.calls.push(call);
      deps.listener.call(call.id, call.name, '');
    } else {
      const call = byIndex.get(part.index);
      if (!call) return;
      call.arguments = (call.arguments ?? '') + part.text;
      deps.listener.call(call.id, call.name, part.text);
    }
  }

  const onPart = (part: StreamPart) => {
    const begin = performance.now();
    firstAt ??= begin;
    take(part);
    consumed += performance.now() - begin;
  };

  const finish = (response: ModelResponse) => {
    const endAt = performance.now();
    // Both lists follow the stream's indexes: a call is announced when its name arrives, possibly after later calls.
    const byPlace = [...byIndex].toSorted(([a], [b]) => a - b).map(([, call]) => call);
    const calls = response.calls.map((call, place) => {
      const announced = byPlace[place];
      return { ...call, id: announced ? announced.id : uniqueId(call.id) };
    });
    const first = firstAt ?? endAt;
    const timings: StreamTimings = {
      llmRequestBuildMs: sentAt - deps.startedAt,
      llmServerFirstTokenMs: first - sentAt,
      llmFirstTokenLatencyMs: first - deps.startedAt,
      llmStreamDurationMs: endAt - first,
      llmServerDecodeMs: Math.max(0, endAt - first - consumed),
      llmClientConsumeMs: Math.min(consumed, endAt - first),
    };
    return { response: { ...response, calls }, timings };
  };

  return { received, response: deps.stream(request, onPart).then(finish) };
}
