/** A call for drawing, read from its frame. */
import type { Display, Interaction, ToolOutput } from '@service-code/client';
import type { ToolFrame } from './rows.ts';

/**
 * `preparing`: the model still writes the call; `rejected`: a person refused it; `cancelled`: its approval was cancelled,
 * or a person stopped it; `interrupted`: the server stopped while it ran.
 */
export type CallState = 'preparing' | 'running' | 'done' | 'failed' | 'rejected' | 'cancelled' | 'interrupted';

export interface ToolCall {
  id: string;
  name: string;
  state: CallState;
  /** Parsed arguments; undefined while the model still writes them. */
  input: unknown;
  /** Length of the arguments so far, while `preparing`. */
  written: number;
  display?: Display | undefined;
  output?: ToolOutput | undefined;
  /** The tail of the live output. */
  progress: string;
  percent?: number | undefined;
  /** Subagents that it started, in order. */
  agents: readonly string[];
}

/** `answer`: the state of the approval that was requested for the call. */
export function toolCallOf(frame: ToolFrame, answer?: Interaction['state']): ToolCall {
  const { toolCallId: id, name, input, inputText = '', display, output, progress, agentRefs = [] } = frame;
  return {
    id,
    name,
    state: stateOf(frame, answer),
    input,
    written: inputText.length,
    display: isDisplay(display) ? display : undefined,
    output: output === undefined ? undefined : outputOf(output),
    progress: progress?.text ?? '',
    percent: progress?.percent,
    agents: agentRefs.map(({ agentId }) => agentId),
  };
}

/** A line at an end of the result of a call that a person has stopped. */
const STOPPED = /^(?:Interrupted by user|The call was interrupted before it started)|Interrupted by user\.?\s*$/;

/** The result of a call of a server that stopped. */
const INTERRUPTED = /^The tool call was interrupted before its result was recorded/;

function stateOf({ state, input, output }: ToolFrame, answer: Interaction['state'] | undefined): CallState {
  if (state === 'running') return input === undefined ? 'preparing' : 'running';
  if (state === 'done') return 'done';
  const text = output === undefined ? '' : outputText(outputOf(output));
  if (INTERRUPTED.test(text)) return 'interrupted';
  if (answer === 'rejected' || answer === 'cancelled') return answer;
  return STOPPED.test(text) ? 'cancelled' : 'failed';
}

/** The server creates displays of all tools by one schema; `kind` distinguishes them from other values. */
export function isDisplay(value: unknown): value is Display {
  return typeof value === 'object' && value !== null && 'kind' in value && typeof value.kind === 'string';
}

/** Plain text of a result; media parts are replaced by a placeholder. */
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
