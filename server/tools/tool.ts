/** A tool is a plain object: schema, a plan, a run. One file a tool. */
import type { z } from 'zod';
import type { Display } from '#schema/display.ts';
import type { ToolOutput } from '#schema/engine.ts';
import type { Runtime } from '#server/runtime/runtime.ts';

/** How long a tool may take to end by itself after an abort, in ms. By then what it started must be gone or killed. */
export const ABORT_GRACE_MS = 2000;

/** What a call touches; decides which calls of a batch may run side by side and which paths permissions look at. */
export type Access =
  { kind: 'file'; path: string; mode: 'read' | 'write' | 'read-write'; recursive?: boolean } | { kind: 'all' };

export interface ToolProgress {
  kind: 'stdout' | 'stderr' | 'progress' | 'status' | 'custom';
  text?: string;
  percent?: number;
  customKind?: string;
  customData?: unknown;
  replace?: boolean;
}

/** The workspace as a tool sees it. All paths absolute. */
export interface ToolEnvironment {
  sessionId: string;
  agentId: string;
  /** The machine the workspace lies on: tools touch files and start processes through it alone. */
  runtime: Runtime;
  cwd: string;
  /** Further roots that count as the workspace. */
  additionalDirs: string[];
  /** Root folders of skills and plugins: readable without asking. */
  skillDirs: string[];
  /** The session's own folder: readable without asking. */
  sessionDir: string;
  /** Names of the tools active for this agent right now. */
  activeTools: ReadonlySet<string>;
}

export interface RunContext extends ToolEnvironment {
  toolCallId: string;
  turnId: number;
  signal: AbortSignal;
  progress(update: ToolProgress): void;
}

export interface ToolResult {
  output: ToolOutput;
  isError?: boolean;
  /** `<system>…</system>` text for the model only. */
  note?: string;
  /** Already cut by the output builder: no spill to a file. */
  truncated?: boolean;
  /** Ends the turn after this batch. */
  stopTurn?: boolean;
  /** Files read or written now, for the stale-file guard. */
  files?: { path: string; mtimeMs: number }[];
}

/** An error result. */
export const failed = (output: string): ToolResult => ({ output, isError: true });

/** How permission rules see a call. */
export interface RuleSubject {
  /** Text the rule's argument is matched against; absent = the tool has no subject. */
  text?: string;
  match: 'path' | 'glob' | 'command' | 'literal';
}

/** What resolving the arguments yields, before anything runs. */
export interface PreparedCall {
  accesses: Access[];
  /** Label for people: `description` of the event, `action` of the approval. */
  label: string;
  display?: Display;
  subject: RuleSubject;
  run(context: RunContext): Promise<ToolResult>;
}

/** Settles the call as an error result before permissions are asked. */
export class ToolInputError extends Error {
  override readonly name = 'ToolInputError';
}

export interface Tool<Schema extends z.ZodType = z.ZodType> {
  name: string;
  /** As the model is told it; may depend on the environment (limits are named constants shared with the code). */
  description: string;
  parameters: Schema;
  /** Throws `ToolInputError` for what can be said before running: path policy, missing workspace directories. */
  prepare(args: z.output<Schema>, environment: ToolEnvironment): Promise<PreparedCall> | PreparedCall;
}

/** Keeps the schema's type inside a tool file and gives the registry one common type. */
export function defineTool<Schema extends z.ZodType>(tool: Tool<Schema>): Tool {
  return tool as unknown as Tool;
}
