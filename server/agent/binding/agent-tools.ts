/** The tools of an agent: all of them, the active ones, and the list that is sent to the model. */
import type { Tool } from '#server/tools/tool.ts';
import type { ContextState } from '#server/journal/projections/context.ts';
import { TOOL_ORDER } from '../profiles/built-in.ts';
import { toolListOf } from './tool-list.ts';
import type { AgentServices } from '../contract/services.ts';
import type { BoundTools, ToolList, AgentTools } from '../contract/tools.ts';

const sameItems = (one: readonly unknown[], other: readonly unknown[]) =>
  one.length === other.length && one.every((item, place) => item === other[place]);

const places = new Map(TOOL_ORDER.map((name, place) => [name, place]));
const placeOf = ({ name }: Tool) => places.get(name) ?? TOOL_ORDER.length;
/** Stable order: added and removed tools do not move the others, so that the providers' prompt caches stay valid. */
const inOrder = (tools: readonly Tool[]) => tools.toSorted((one, other) => placeOf(one) - placeOf(other));

const having = (bound: BoundTools, name: string | undefined): BoundTools =>
  name === undefined || bound.tools === '*' ? bound : { ...bound, tools: [...bound.tools, name] };

/**
 * Memoizes on the last inputs, because it is called several times a step: the result is computed again only if the
 * tools that `gather` returns, or the objects that decide which are allowed, are not identical to the last ones.
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
