/** Encodes a scripted answer for each wire format: events of the parts, then the final events. */
import type { Script, ScriptedCall } from './model-server.ts';

export type WireFormat = 'chat' | 'responses' | 'anthropic' | 'google';

interface Encoding {
  stream(script: Script): { parts: string[]; end: string[] };
  error(status: number, message: string): Record<string, unknown>;
  streamError(error: Record<string, unknown>): string;
  malformed: string;
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: { type: string; [field: string]: unknown }) => `event: ${value.type}\n${data(value)}`;
const list = (value: string | string[] | undefined) =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

/** Splits the arguments into two chunks, which clients have to join. */
function pieces(call: ScriptedCall): string[] {
  const text = typeof call.args === 'string' ? call.args : JSON.stringify(call.args ?? {});
  const half = Math.ceil(text.length / 2);
  return [text.slice(0, half), text.slice(half)].filter(Boolean);
}

const callId = (call: ScriptedCall, i: number) => (call.id === undefined ? `call_${i + 1}` : call.id);
const usageOf = (script: Script) =>
  script.usage === false ? undefined : { cached: 0, cacheCreation: 0, ...(script.usage ?? { input: 12, output: 5 }) };

const chat: Encoding = {
  stream(script) {
    const chunk = (delta: Record<string, unknown>, finish: string | null = null) =>
      data({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'fake-1',
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
    const parts = [chunk({ role: 'assistant', content: '' })];
    for (const text of list(script.thinking)) parts.push(chunk({ reasoning_content: text }));
    for (const text of list(script.text)) parts.push(chunk({ content: text }));
    for (const [i, call] of (script.calls ?? []).entries()) {
      const part = (fields: Record<string, unknown>) => chunk({ tool_calls: [{ index: i, ...fields }] });
      const id = callId(call, i);
      const head = {
        ...(id !== null && { id }),
        type: 'function',
        function: { name: call.name, arguments: '' },
        ...(call.extras && { extras: call.extras }),
      };
      const args = pieces(call).map((text) => part({ function: { arguments: text } }));
      if (script.argumentsFirst && i === 0) parts.push(...args.slice(0, 1), part(head), ...args.slice(1));
      else parts.push(part(head), ...args);
    }
    const usage = usageOf(script);
    const end = [chunk({}, script.finish ?? (script.calls?.length ? 'tool_calls' : 'stop'))];
    if (usage) {
      const counts = {
        prompt_tokens: usage.input,
        completion_tokens: usage.output,
        total_tokens: usage.input + usage.output,
        prompt_tokens_details: { cached_tokens: usage.cached },
      };
      end.push(data({ id: 'chatcmpl-1', object: 'chat.completion.chunk', choices: [], usage: counts }));
    }
    return { parts, end: [...end, 'data: [DONE]\n\n'] };
  },
  error: (_status, message) => ({ error: { message, type: 'invalid_request_error', code: null } }),
  streamError: (error) => data({ error }),
  malformed: 'data: {"choices": [{\n\n',
};

const responses: Encoding = {
  stream(script) {
    const parts: string[] = [named({ type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } })];
    const push = (type: string, fields: Record<string, unknown>) => parts.push(named({ type, ...fields }));
    let index = 0;
    if (script.thinking !== undefined || script.signature) {
      const item = { id: 'rs_1', type: 'reasoning', summary: [] };
      push('response.output_item.added', { output_index: index, item });
      for (const delta of list(script.thinking)) {
        push('response.reasoning_summary_text.delta', {
          item_id: 'rs_1',
          output_index: index,
          summary_index: 0,
          delta,
        });
      }
      const encrypted = script.signature && { encrypted_content: script.signature };
      push('response.output_item.done', { output_index: index, item: { ...item, ...encrypted } });
      index++;
    }
    if (script.text !== undefined) {
      const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [] };
      push('response.output_item.added', { output_index: index, item });
      for (const delta of list(script.text)) {
        push('response.output_text.delta', { item_id: 'msg_1', output_index: index, content_index: 0, delta });
      }
      push('response.output_item.done', { output_index: index, item });
      index++;
    }
    for (const [i, call] of (script.calls ?? []).entries()) {
      const id = callId(call, i);
      const item = {
        id: `fc_${i}`,
        type: 'function_call',
        name: call.name,
        arguments: '',
        ...(id !== null && { call_id: id }),
      };
      const deltas = pieces(call);
      const send = (delta: string) =>
        push('response.function_call_arguments.delta', { item_id: item.id, output_index: index, delta });
      if (script.argumentsFirst && i === 0) send(deltas.shift() ?? '');
      push('response.output_item.added', { output_index: index, item });
      deltas.forEach(send);
      push('response.output_item.done', { output_index: index, item: { ...item, arguments: pieces(call).join('') } });
      index++;
    }
    const usage = usageOf(script);
    const incomplete = script.finish !== undefined && script.finish !== 'completed';
    const response = {
      id: 'resp_1',
      status: incomplete ? 'incomplete' : 'completed',
      incomplete_details: incomplete ? { reason: script.finish } : null,
      output: [],
      ...(usage && {
        usage: {
          input_tokens: usage.input,
          output_tokens: usage.output,
          total_tokens: usage.input + usage.output,
          input_tokens_details: { cached_tokens: usage.cached },
        },
      }),
    };
    return {
      parts,
      end: [named({ type: incomplete ? 'response.incomplete' : 'response.completed', response })],
    };
  },
  error: (_status, message) => ({ error: { message, type: 'invalid_request_error', code: null } }),
  streamError: (error) => named({ type: 'error', sequence_number: 9, param: null, ...error }),
  malformed: 'event: response.output_text.delta\ndata: {"delta": \n\n',
};

const anthropic: Encoding = {
  stream(script) {
    const usage = usageOf(script);
    const parts: string[] = [];
    const push = (type: string, fields: Record<string, unknown>) => parts.push(named({ type, ...fields }));
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'fake-1',
      content: [],
      stop_reason: null,
    };
    const start = usage && {
      usage: {
        input_tokens: usage.input - usage.cached,
        output_tokens: 1,
        cache_read_input_tokens: usage.cached,
        cache_creation_input_tokens: usage.cacheCreation,
      },
    };
    push('message_start', { message: { ...message, ...start } });
    push('ping', {});
    let index = 0;
    const block = (content_block: Record<string, unknown>, deltas: Record<string, unknown>[]) => {
      push('content_block_start', { index, content_block });
      for (const delta of deltas) push('content_block_delta', { index, delta });
      push('content_block_stop', { index });
      index++;
    };
    if (script.thinking !== undefined || script.signature) {
      const deltas: Record<string, unknown>[] = list(script.thinking).map((thinking) => ({
        type: 'thinking_delta',
        thinking,
      }));
      if (script.signature) deltas.push({ type: 'signature_delta', signature: script.signature });
      block({ type: 'thinking', thinking: '', signature: '' }, deltas);
    }
    if (script.text !== undefined) {
      block(
        { type: 'text', text: '' },
        list(script.text).map((text) => ({ type: 'text_delta', text })),
      );
    }
    for (const [i, call] of (script.calls ?? []).entries()) {
      const id = callId(call, i);
      const deltas = pieces(call).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
      if (script.argumentsFirst && i === 0) push('content_block_delta', { index, delta: deltas.shift() });
      block({ type: 'tool_use', name: call.name, input: {}, ...(id !== null && { id }) }, deltas);
    }
    const stop = script.finish ?? (script.calls?.length ? 'tool_use' : 'end_turn');
    return {
      parts,
      end: [
        named({
          type: 'message_delta',
          delta: { stop_reason: stop, stop_sequence: null },
          ...(usage && { usage: { output_tokens: usage.output } }),
        }),
        named({ type: 'message_stop' }),
      ],
    };
  },
  error: (status, message) => ({
    type: 'error',
    error: { type: status === 429 ? 'rate_limit_error' : 'api_error', message },
  }),
  streamError: (error) => named({ type: 'error', error }),
  malformed: 'event: content_block_delta\ndata: {"type": \n\n',
};

/** Placeholder of a call's arguments in the encoded event. */
const ARGUMENTS = '<arguments>';

const google: Encoding = {
  stream(script) {
    const chunk = (
      parts: Record<string, unknown>[],
      more: Record<string, unknown> = {},
      candidate: Record<string, unknown> = {},
    ) =>
      data({
        candidates: [{ content: { role: 'model', parts }, index: 0, ...candidate }],
        responseId: 'resp_1',
        ...more,
      });
    const parts: string[] = [];
    const thoughts = list(script.thinking);
    for (const [i, text] of thoughts.entries()) {
      const last = i === thoughts.length - 1 && script.signature;
      parts.push(chunk([{ text, thought: true, ...(last && { thoughtSignature: script.signature }) }]));
    }
    for (const text of list(script.text)) parts.push(chunk([{ text }]));
    for (const [i, call] of (script.calls ?? []).entries()) {
      const id = callId(call, i);
      const args = typeof call.args === 'string' ? call.args : JSON.stringify(call.args ?? {});
      const signature = call.extras?.thought_signature;
      const event = chunk([
        {
          functionCall: { name: call.name, args: ARGUMENTS, ...(id !== null && { id }) },
          ...(signature !== undefined && { thoughtSignature: signature }),
        },
      ]);
      // Inserted as raw text: the arguments may nest deeper than JSON can be stringified.
      parts.push(event.replace(JSON.stringify(ARGUMENTS), () => args));
    }
    const usage = usageOf(script);
    const counts = usage && {
      usageMetadata: {
        promptTokenCount: usage.input,
        cachedContentTokenCount: usage.cached,
        candidatesTokenCount: usage.output,
        totalTokenCount: usage.input + usage.output,
      },
    };
    return { parts, end: [chunk([], counts, { finishReason: script.finish ?? 'STOP' })] };
  },
  error: (status, message) => ({ error: { code: status, message, status: 'UNKNOWN' } }),
  streamError: (error) => data({ error }),
  malformed: 'data: {"candidates": [{\n\n',
};

export const encodings: Record<WireFormat, Encoding> = { chat, responses, anthropic, google };

/** Encodes one event of any wire format; an event with a `type` gets it as its name. */
export function encodeEvent(event: Record<string, unknown>): string {
  return typeof event.type === 'string' ? named({ ...event, type: event.type }) : data(event);
}
