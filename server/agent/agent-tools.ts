/** The tools of an agent: what it has, what it may use of them, and how models are told of that. */
import type { Tool } from '#server/tools/tool.ts';
import type { ContextState } from '#server/journal/projections/context.ts';
import type { AgentServices, BoundTools } from './context.ts';
import { TOOL_ORDER } from './profile.ts';
import { toolListOf, type ToolList } from './tool-list.ts';

export interface AgentTools {
  /** Whether the tool policy allows them or not. */
  readonly all: readonly Tool[];
  readonly active: readonly Tool[];
  readonly activeNames: ReadonlySet<string>;
  /** Entries of the tool lists that fit no tool. */
  readonly ineffective: readonly string[];
  /** Deferred ones are not in the list: the model loads them into its conversation. */
  readonly loadsDeferred: boolean;
  /** The active ones as models are told them. */
  readonly list: ToolList;
}

const sameItems = (one: readonly unknown[], other: readonly unknown[]) =>
  one.length === other.length && one.every((item, place) => item === other[place]);

const places = new Map(TOOL_ORDER.map((name, place) => [name, place]));
const placeOf = ({ name }: Tool) => places.get(name) ?? TOOL_ORDER.length;
/** What comes and goes moves no other tool, so that caches of requests hold. */
const inOrder = (tools: readonly Tool[]) => tools.toSorted((one, other) => placeOf(one) - placeOf(other));

const having = (bound: BoundTools, name: string | undefined): BoundTools =>
  name === undefined || bound.tools === '*' ? bound : { ...bound, tools: [...bound.tools, name] };

/**
 * Asked several times a step: `gather` names the tools there are now, and the rest is made anew only when these or what
 * allows them are other objects than the last time.
 */
export function createAgentTools(
  services: AgentServices,
  gather: () => readonly Tool[],
  state: () => ContextState,
): () => AgentTools {
  let last: { of: readonly unknown[]; tools: AgentTools } | undefined;

  function make(gathered: readonly Tool[], { bound, disabledTools }: ContextState): AgentTools {
    const all = inOrder(gathered);
    const names = all.map((tool) => tool.name);
    const loader = all.find((tool) => tool.loader === 'on')?.name;
    const { active: allowed, ineffective } = services.toolPolicy(names, bound && having(bound, loader), disabledTools);
    const active = all.filter((tool) => allowed.has(tool.name) && tool.loader !== 'off');
    const loadsDeferred = loader !== undefined && allowed.has(loader);
    let list: ToolList | undefined;
    return {
      all,
      active,
      activeNames: new Set(active.map((tool) => tool.name)),
      ineffective,
      loadsDeferred,
      get list() {
        list ??= toolListOf(loadsDeferred ? active.filter((tool) => !tool.deferred) : active);
        return list;
      },
    };
  }

  return () => {
    const gathered = gather();
    const now = state();
    const of = [services.toolSettings(), now.bound, now.disabledTools, ...gathered];
    if (!last || !sameItems(last.of, of)) last = { of, tools: make(gathered, now) };
    return last.tools;
  };
}
