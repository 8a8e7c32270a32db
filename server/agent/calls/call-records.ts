/** Records of a call, and the normalization of its result. */
import { event, type Draft, type JournalOnlyFields } from '#server/journal/records.ts';
import type { Stored } from '#server/journal/texts.ts';
import type { PreparedCall, ToolResult } from '#server/tools/tool.ts';
import { visibleLine } from '#server/text/visible-text.ts';
import type { Display } from '#schema/rest/display.ts';
import type { ToolCall, ToolOutput } from '#schema/engine.ts';
import type { StoredResult } from '../contract/calls.ts';

const EMPTY_OUTPUT = 'The tool finished without output.';
const MEDIA_OUTPUT = 'The tool gave this:';

/** A call as clients receive it, its long texts stored. */
export type ShownCall = Stored<{ args: unknown; display?: Display }>;

/** The record of a call's start. `prepared` is undefined for a call that could not be prepared. */
export function startDraft(
  agentId: string,
  turnId: number,
  call: ToolCall,
  { args, display }: ShownCall,
  prepared: PreparedCall | undefined,
): Draft {
  return event(agentId, 'tool.call.started', {
    turnId,
    toolCallId: call.id,
    name: call.name,
    args,
    ...(prepared?.label === undefined ? {} : { description: visibleLine(prepared.label) }),
    ...(display ? { display } : {}),
  });
}

/** The record of a call's result. `agentsMd` are the instruction files that were found with this call. */
export function resultDraft(
  agentId: string,
  turnId: number,
  toolCallId: string,
  { output, isError, note, files, x }: StoredResult,
  agentsMd: string[] = [],
): Draft {
  const extras: Stored<JournalOnlyFields['tool.result']> = {
    ...(note ? { note } : {}),
    ...(files?.length ? { files } : {}),
    ...(agentsMd.length > 0 ? { agentsMd } : {}),
    ...x,
  };
  return event(
    agentId,
    'tool.result',
    { turnId, toolCallId, output, ...(isError ? { isError: true as const } : {}) },
    Object.keys(extras).length > 0 ? extras : undefined,
  );
}

/** Replaces empty output by a sentence, joins text parts to a string, and adds a text before media without one. */
export function normalized(result: ToolResult): ToolResult {
  const { output } = result;
  if (typeof output !== 'string' && output.some((part) => part.type !== 'text')) {
    const described = output.some((part) => part.type === 'text' && part.text.trim() !== '');
    return described ? result : { ...result, output: [{ type: 'text', text: MEDIA_OUTPUT }, ...output] };
  }
  return { ...result, output: joined(output) || EMPTY_OUTPUT };
}

const joined = (output: ToolOutput): string =>
  typeof output === 'string' ? output : output.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** A reminder to append to a result's text. */
export const reminderBlock = (text: string) => `\n\n<system-reminder>\n${text}\n</system-reminder>`;

/** The result with a reminder for the model appended to its output. */
export function withReminder(result: ToolResult, text: string): ToolResult {
  const reminder = reminderBlock(text);
  if (typeof result.output === 'string') return { ...result, output: result.output + reminder };
  return { ...result, output: [...result.output, { type: 'text', text: reminder }] };
}
