/** The tools of an agent and the policy that allows them. */
import type { InternalFields } from '#server/journal/records.ts';
import type { Tool } from '#server/tools/tool.ts';
import type { ToolSchema } from '#schema/engine.ts';

/** The tool lists of a binding. */
export type BoundTools = Pick<InternalFields['agent.bound'], 'tools' | 'disallowed'>;

export interface ToolPolicy {
  active: ReadonlySet<string>;
  ineffective: string[];
}

export interface AgentTools {
  /** All tools, including those that the tool policy disallows. */
  readonly all: readonly Tool[];
  readonly active: readonly Tool[];
  readonly activeNames: ReadonlySet<string>;
  /** Entries of the tool lists that match no tool. */
  readonly ineffective: readonly string[];
  /** Whether deferred tools are omitted from the list, because the model loads them into its conversation. */
  readonly loadsDeferred: boolean;
  /** The active tools as they are sent to the model. */
  readonly list: ToolList;
}

export interface ToolList {
  tools: ToolSchema[];
  /** JSON of `tools`. */
  text: string;
  sha256: string;
}
