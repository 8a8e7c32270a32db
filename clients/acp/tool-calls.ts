/** Calls of tools in the form of the protocol. */
import { isAbsolute, relative, resolve } from 'node:path';
import type { ToolCallContent, ToolCallLocation, ToolCallStatus, ToolKind } from '@agentclientprotocol/sdk';
import type { Frame } from '@service-code/client';
import * as z from 'zod';
import { displayOf, type KnownDisplay } from './display.ts';
import { fence } from './fence.ts';
import { wellFormed } from './text.ts';

export type ToolFrame = Extract<Frame, { kind: 'tool' }>;

/** The members of a call that change while it runs. */
export interface CallView {
  title: string;
  kind: ToolKind;
  status: ToolCallStatus;
  content: ToolCallContent[];
  locations: ToolCallLocation[];
  rawInput?: unknown;
}

const KINDS: Partial<Record<string, ToolKind>> = {
  Read: 'read',
  ReadMediaFile: 'read',
  Write: 'edit',
  Edit: 'edit',
  Glob: 'search',
  Grep: 'search',
  WebSearch: 'search',
  FetchURL: 'fetch',
  Bash: 'execute',
  TodoList: 'think',
  EnterPlanMode: 'switch_mode',
  ExitPlanMode: 'switch_mode',
};

const TITLE_CHARS = 200;
/** Output of a running call is sent again whenever it grows, so only its end is. */
const RUNNING_CHARS = 16 * 1024;

const argumentsSchema = z.object({
  path: z.string().optional().catch(undefined),
  pattern: z.string().optional().catch(undefined),
  mode: z.string().optional().catch(undefined),
});

export interface CallContext {
  cwd: string;
  /** The last line of each agent that the call has started. */
  lines?: readonly string[] | undefined;
}

/** The present state of a call. */
export function callView(frame: ToolFrame, { cwd, lines }: CallContext): CallView {
  const display = displayOf(frame.display);
  return {
    title: titleOf(frame, display, cwd),
    kind: KINDS[frame.name] ?? 'other',
    status: statusOf(frame),
    content: contentOf(frame, display, lines),
    locations: locationsOf(frame, display, cwd),
    ...(frame.input !== undefined && !isEdit(display) && { rawInput: frame.input }),
  };
}

/** A call without parsed arguments is still being written, or waits for an approval. */
function statusOf({ state, input }: ToolFrame): ToolCallStatus {
  if (state === 'done') return 'completed';
  if (state === 'error') return 'failed';
  return input === undefined ? 'pending' : 'in_progress';
}

const isEdit = (display: KnownDisplay | undefined): display is Extract<KnownDisplay, { kind: 'file_io' }> =>
  display?.kind === 'file_io' && (display.operation === 'write' || display.operation === 'edit');

/** One line that describes the call. */
function titleOf(frame: ToolFrame, display: KnownDisplay | undefined, cwd: string): string {
  const { name } = frame;
  const pattern = name === 'Grep' ? argumentsSchema.safeParse(frame.input).data?.pattern : undefined;
  const place = display ? subjectOf(display, cwd) : shownPath(pathOf(frame), cwd);
  const subject = pattern === undefined ? place : `${pattern} in ${place}`;
  const line = subject.trim().split('\n', 1)[0] ?? '';
  const short = line.length > TITLE_CHARS ? `${wellFormed(line.slice(0, TITLE_CHARS))}…` : line;
  const verb = name === '' ? 'Tool' : name;
  if (short === '') return verb;
  return display?.kind === 'command' ? short : `${verb} ${short}`;
}

function subjectOf(display: KnownDisplay, cwd: string): string {
  switch (display.kind) {
    case 'command':
      return display.command;
    case 'file_io': {
      const path = shownPath(display.path, cwd);
      return display.detail === undefined ? path : `${path} (${display.detail})`;
    }
    case 'search':
      return display.query;
    case 'url_fetch':
      return display.url;
    case 'agent_call':
      return `${display.agent_name}: ${display.prompt}`;
    case 'skill_call':
      return display.skill_name;
    case 'plan_review':
      return display.plan.replace(/^[#\s]+/, '');
    case 'goal_start':
      return display.objective;
  }
}

/** A path in the session's directory is relative to it. */
function shownPath(path: string | undefined, cwd: string): string {
  if (path === undefined || !isAbsolute(path)) return path ?? '';
  const inside = relative(cwd, path);
  return inside === '' ? '.' : inside.startsWith('..') || isAbsolute(inside) ? path : inside;
}

/** The path among the arguments, also while they are still being written. */
function pathOf({ name, input, inputText }: ToolFrame): string | undefined {
  if (!['read', 'edit'].includes(KINDS[name] ?? '')) return undefined;
  if (input !== undefined) return argumentsSchema.safeParse(input).data?.path;
  const [, written] = /"path"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(inputText ?? '') ?? [];
  if (written === undefined) return undefined;
  try {
    return z.string().safeParse(JSON.parse(`"${written}"`)).data;
  } catch {
    return undefined;
  }
}

function locationsOf(frame: ToolFrame, display: KnownDisplay | undefined, cwd: string): ToolCallLocation[] {
  const shown = display?.kind === 'file_io' || display?.kind === 'plan_review' ? display.path : undefined;
  const path = shown ?? pathOf(frame);
  return path === undefined ? [] : [{ path: resolve(cwd, path) }];
}

function contentOf(
  frame: ToolFrame,
  display: KnownDisplay | undefined,
  lines: readonly string[] | undefined,
): ToolCallContent[] {
  const outcome = outputOf(frame);
  if (lines) return lines.length > 0 ? [block(lines.join('\n'))] : [];
  if (display?.kind === 'plan_review') return [block(display.plan), ...(frame.state === 'error' ? outcome : [])];
  if (isEdit(display)) return [diffOf(frame, display), ...(frame.state === 'error' ? outcome : [])];
  // The list is displayed as the plan.
  if (frame.todoId !== undefined && frame.state !== 'error') return [];
  if (frame.state !== 'running') return outcome;
  const grown = frame.progress?.text ?? '';
  return grown === '' ? [] : [block(fence(wellFormed(grown.slice(-RUNNING_CHARS))))];
}

/** The whole file if the call writes it, otherwise the replaced text. */
function diffOf(frame: ToolFrame, display: Extract<KnownDisplay, { kind: 'file_io' }>): ToolCallContent {
  const { path, operation, before, after, content } = display;
  if (operation === 'edit') return { type: 'diff', path, oldText: before ?? '', newText: after ?? '' };
  const given = argumentsSchema.safeParse(frame.input).data;
  return { type: 'diff', path, newText: content ?? '', ...(given?.mode === 'append' && { oldText: '' }) };
}

const partSchema = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image_url'), imageUrl: z.object({ url: z.string() }) }),
]);
const outputSchema = z.union([z.string(), z.array(z.unknown())]);
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+);base64,(.+)$/s;

/** Text of a result in a fence; images as such. */
function outputOf({ output }: ToolFrame): ToolCallContent[] {
  const { data } = outputSchema.safeParse(output);
  if (data === undefined || data === '') return [];
  if (typeof data === 'string') return [block(fence(wellFormed(data)))];
  return data.flatMap((value) => {
    const { data: part } = partSchema.safeParse(value);
    if (part?.type === 'text') return part.text === '' ? [] : [block(fence(wellFormed(part.text)))];
    const [, mimeType, base64] = DATA_URL.exec(part?.imageUrl.url ?? '') ?? [];
    if (mimeType === undefined || base64 === undefined) return [];
    return [{ type: 'content' as const, content: { type: 'image' as const, mimeType, data: base64 } }];
  });
}

const block = (text: string): ToolCallContent => ({ type: 'content', content: { type: 'text', text } });
