/** The tools of an agent: what it has, what it may use of them, and how models are told of that. */
import type { Tool } from '#server/tools/tool.ts';
import type { ContextState } from '#server/journal/projections/context.ts';
import type { AgentProgram } from './context.ts';
import { toolListOf, type ToolList } from './tool-list.ts';

export interface AgentTools {
  /** Whether the tool policy allows them or not. */
  readonly all: readonly Tool[];
  readonly active: readonly Tool[];
  readonly activeNames: ReadonlySet<string>;
  /** Entries of the tool lists that fit no tool. */
  readonly ineffective: readonly string[];
  /** The active ones as models are told them. */
  readonly list: ToolList;
}

const sameItems = (one: readonly unknown[], other: readonly unknown[]) =>
  one.length === other.length && one.every((item, place) => item === other[place]);

/**
 * Asked several times a step: `gather` names the tools there are now, and the rest is made anew only when these or what
 * allows them are other objects than the last time.
 */
export function createAgentTools(
  program: AgentProgram,
  gather: () => readonly Tool[],
  state: () => ContextState,
): () => AgentTools {
  let last: { of: readonly unknown[]; tools: AgentTools } | undefined;

  function make(all: readonly Tool[], { bound, disabledTools }: ContextState): AgentTools {
    const names = all.map((tool) => tool.name);
    const { active: activeNames, ineffective } = program.toolPolicy(names, bound, disabledTools);
    const active = all.filter((tool) => activeNames.has(tool.name));
    let list: ToolList | undefined;
    return {
      all,
      active,
      activeNames,
      ineffective,
      get list() {
        list ??= toolListOf(active);
        return list;
      },
    };
  }

  return () => {
    const all = gather();
    const now = state();
    const of = [program.toolSettings(), now.bound, now.disabledTools, ...all];
    if (!last || !sameItems(last.of, of)) last = { of, tools: make(all, now) };
    return last.tools;
  };
}
