/** Tool calls gathered from messages and events into one table by id. */
import type { InFlightTurn, Message, ToolOutput } from '../client/types.ts';
import { PROGRESS_LIMIT, type ToolCall } from './session-view.ts';

type Calls = Record<string, ToolCall>;

export function newCall(id: string, name: string): ToolCall {
  return { id, name, state: 'preparing', input: undefined, written: 0, progress: '' };
}

/** Changes one call, making it when it is new. */
export function withCall(calls: Calls, id: string, change: (call: ToolCall) => ToolCall, name = ''): Calls {
  return { ...calls, [id]: change(calls[id] ?? newCall(id, name)) };
}

/** Adds what finished messages say of calls; what events told in addition (display, label) stays. */
export function fromMessages(calls: Calls, messages: readonly Message[]): Calls {
  const next = { ...calls };
  for (const part of messages.flatMap((message) => message.content)) {
    if (part.type === 'tool_use') {
      const known = next[part.tool_call_id] ?? newCall(part.tool_call_id, part.tool_name);
      const state = known.state === 'preparing' ? 'cut' : known.state;
      next[part.tool_call_id] = { ...known, name: part.tool_name, input: part.input, state };
    } else if (part.type === 'tool_result') {
      const known = next[part.tool_call_id] ?? newCall(part.tool_call_id, '');
      const state = part.is_error ? 'failed' : 'done';
      next[part.tool_call_id] = { ...known, state, output: outputOf(part.output), progress: '' };
    }
  }
  return next;
}

/** Adds the running calls of a snapshot. */
export function fromTurn(calls: Calls, turn: InFlightTurn): Calls {
  const next = { ...calls };
  for (const tool of turn.running_tools) {
    const known = next[tool.tool_call_id] ?? newCall(tool.tool_call_id, tool.name);
    next[tool.tool_call_id] = {
      ...known,
      name: tool.name,
      state: 'running',
      input: tool.args ?? known.input,
      label: tool.description,
      display: tool.display,
      progress: known.progress || (tool.last_progress?.text ?? ''),
      percent: tool.last_progress?.percent,
    };
  }
  return next;
}

/** Calls that were still open when their turn ended have no result. */
export function cutOpen(calls: Calls, ids: readonly string[]): Calls {
  const open = ids.filter((id) => calls[id]?.state === 'preparing' || calls[id]?.state === 'running');
  return open.reduce((next, id) => withCall(next, id, (call) => ({ ...call, state: 'cut' })), calls);
}

/** Live output with one more chunk, bounded. */
export function appendProgress(progress: string, text: string, replace = false): string {
  return (replace ? text : progress + text).slice(-PROGRESS_LIMIT);
}

/** Plain text of a result; media parts are left to whoever shows them. */
export function outputText(output: ToolOutput | undefined): string {
  if (output === undefined || typeof output === 'string') return output ?? '';
  return output.map((part) => (part.type === 'text' ? part.text : part.type === 'think' ? '' : '[media]')).join('');
}

function outputOf(output: unknown): ToolOutput {
  if (typeof output === 'string') return output;
  return isParts(output) ? output : JSON.stringify(output ?? '');
}

function isParts(output: unknown): output is Exclude<ToolOutput, string> {
  return (
    Array.isArray(output) &&
    output.every((part: unknown) => typeof part === 'object' && part !== null && 'type' in part)
  );
}
