/** Types of tool calls that the loop, calls and features share. */
import type { Access, ToolResult } from '#server/tools/tool.ts';
import type { Stored } from '#server/journal/texts.ts';

/** The accesses and the command line of a call. */
export interface Touched {
  accesses: readonly Access[];
  /** A command line and its working directory. */
  command?: { line: string; cwd: string } | undefined;
  cwd: string;
}

export interface RepeatVerdict {
  /** Appended to the result for the model. */
  reminder?: string;
  stopTurn: boolean;
}

export interface RepeatGuard {
  /** Counts a call, also a refused one. Calls must be counted in order, equal calls of one response a single time. */
  count(key: string): RepeatVerdict;
  /** Called at the start of a turn. */
  reset(): void;
}

/** A result whose long texts are stored. */
export type StoredResult = Omit<ToolResult, 'output' | 'note'> & Stored<Pick<ToolResult, 'output' | 'note'>>;
