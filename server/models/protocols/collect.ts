import { newUlid } from '#server/ids.ts';
import type { Part, ToolCall } from '#schema/engine.ts';
import type { StreamPart } from '../types.ts';

export interface CallFragment {
  id?: string | null | undefined;
  name?: string | null | undefined;
  arguments?: string | null | undefined;
  extras?: Record<string, unknown> | undefined;
}

/** Accumulates the final parts and calls of a response from its stream, and forwards the stream. */
export interface Collector {
  text(text: string): void;
  /** `format` names the wire form of the reasoning and is stored in the part. */
  think(text: string, format: string): void;
  /** Starts a new part with the next fragment, even one of the same kind. */
  split(): void;
  /** Signature of the reasoning just streamed; creates an empty part if there was none. */
  sign(encrypted: string, format: string): void;
  /**
   * A fragment of a call. The call is forwarded when its name has arrived; earlier arguments are buffered under the
   * stream's `index` and follow it. A call without an id gets a generated one.
   */
  call(index: number, fragment: CallFragment): void;
  /** Whether arguments of that call have arrived. */
  hasArguments(index: number): boolean;
  readonly callCount: number;
  /** Drops calls that never got a name. */
  finish(): { parts: Part[]; calls: ToolCall[] };
}

interface OpenCall {
  index: number;
  wireId?: string;
  held: string;
  call?: ToolCall;
}

export function createCollector(onPart: (part: StreamPart) => void): Collector {
  const parts: Part[] = [];
  const calls: OpenCall[] = [];
  const current = new Map<number, OpenCall>();
  let joining = false;

  /** Some servers send every parallel call under one index: a new id with a name starts another call. */
  function open(index: number, fragment: CallFragment): OpenCall {
    const known = current.get(index);
    const another = known?.call && fragment.id && fragment.name && known.wireId && fragment.id !== known.wireId;
    if (known && !another) return known;
    const created: OpenCall = { index: calls.length, held: '' };
    calls.push(created);
    current.set(index, created);
    return created;
  }

  return {
    text(text) {
      if (!text) return;
      const last = parts.at(-1);
      if (joining && last?.type === 'text') last.text += text;
      else parts.push({ type: 'text', text });
      joining = true;
      onPart({ type: 'text', text });
    },
    think(text, format) {
      if (!text) return;
      const last = parts.at(-1);
      if (joining && last?.type === 'think' && last.format === format) last.think += text;
      else parts.push({ type: 'think', think: text, format });
      joining = true;
      onPart({ type: 'think', text });
    },
    split() {
      joining = false;
    },
    sign(encrypted, format) {
      const last = parts.at(-1);
      if (joining && last?.type === 'think' && last.encrypted === undefined && last.format === format) {
        last.encrypted = encrypted;
      } else {
        parts.push({ type: 'think', think: '', encrypted, format });
      }
      joining = false;
    },
    call(index, fragment) {
      const state = open(index, fragment);
      if (fragment.id && !state.wireId) state.wireId = fragment.id;
      if (!state.call && fragment.name) {
        const id = state.wireId ?? `call_${newUlid()}`;
        state.call = { id, name: fragment.name, arguments: null };
        if (fragment.extras) state.call.extras = fragment.extras;
        onPart({
          type: 'call',
          index: state.index,
          id,
          name: fragment.name,
          ...(fragment.extras && { extras: fragment.extras }),
        });
      } else if (state.call && fragment.extras) {
        state.call.extras = { ...state.call.extras, ...fragment.extras };
      }
      const text = state.held + (fragment.arguments ?? '');
      if (!state.call) {
        state.held = text;
      } else if (text) {
        state.held = '';
        state.call.arguments = (state.call.arguments ?? '') + text;
        onPart({ type: 'arguments', index: state.index, text });
      }
    },
    hasArguments(index) {
      const state = current.get(index);
      return Boolean(state && (state.held || state.call?.arguments));
    },
    get callCount() {
      return calls.filter(({ call }) => call).length;
    },
    finish() {
      return { parts, calls: calls.flatMap(({ call }) => (call ? [call] : [])) };
    },
  };
}
