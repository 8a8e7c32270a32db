/**
 * Deferred tools: announced to the model by name and loaded on request. For models that accept schemas in the
 * conversation, so that the tools of many servers do not fill each request.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AgentContext, SessionContext } from '#server/agent/contract/context.ts';
import type { Feature, LiveFeature } from '#server/agent/contract/feature.ts';
import { reminder } from '#server/agent/prompt/reminders.ts';
import { LOADABLE_TOOLS } from '#server/models/request-history.ts';
import type { ResolvedModel } from '#server/models/types.ts';
import type { Tool } from '#server/tools/tool.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { SELECT_TOOLS, announcedTools, type Disclosure, type AnnouncedTools } from './conversation.ts';
import { createSelectTools } from './tool.ts';

function open(session: SessionContext): LiveFeature {
  const { services, config } = session;
  const tool = createSelectTools((agentId) => {
    const agent = session.agents.find(agentId)?.context;
    return new Set(agent ? loadable(agent).map(({ name }) => name) : []);
  });
  const on: readonly Tool[] = [{ ...tool, loader: 'on' }];
  const off: readonly Tool[] = [{ ...tool, loader: 'off' }];
  /**
   * Whether the model of the running turn accepts schemas, by agent; a change of the model applies from the next turn.
   */
  const turns = new Map<string, boolean>();
  /** Agents whose next request needs an announcement of the loadable tools. */
  const due = new Set<string>();

  /** Whether the model that the agent is bound to accepts schemas. */
  function takes(agent: AgentContext): boolean {
    const alias = agent.config.model();
    if (alias === undefined) return false;
    try {
      return takesSchemas(services.resolveModel(alias));
    } catch {
      // The turn that uses the model reports why it is unusable.
      return false;
    }
  }

  return {
    tools: (agent) => (config.resolveFlags()['tool-select'] && (turns.get(agent.id) ?? takes(agent)) ? on : off),
    onTurnStart({ id }) {
      due.add(id);
      return undefined;
    },
    beforeStep({ id }, { frozen }) {
      turns.set(id, takesSchemas(frozen.model));
      return undefined;
    },
    afterCompact({ id }) {
      due.add(id);
    },
    onTurnEnd({ id }) {
      turns.delete(id);
      due.delete(id);
      return {};
    },
    reminders(agent) {
      if (!agent.tools().loadsDeferred) return [];
      const known = announcedTools(agent.state().entries);
      const announcement = due.delete(agent.id) ? announced(loadable(agent), known) : [];
      return [...announcement, ...declaration(loadable(agent), known)];
    },
    toolUnavailable(agent, { name, deferred }) {
      if (!deferred || !agent.tools().loadsDeferred || announcedTools(agent.state().entries).loaded.has(name))
        return undefined;
      return `The tool "${name}" is not loaded. Call ${SELECT_TOOLS} with its name first; it can be called in the response after that.`;
    },
  };
}

/** Whether the model accepts schemas in the conversation; other protocols do not support that. */
const takesSchemas = ({ protocol, capabilities }: ResolvedModel): boolean =>
  protocol === 'native' && capabilities.has('dynamically_loaded_tools') && capabilities.has('tool_use');

const loadable = (agent: AgentContext): Tool[] => agent.tools().active.filter(({ deferred }) => deferred);

function announced(tools: readonly Tool[], known: AnnouncedTools): ContextMessage[] {
  const names = new Set(tools.map(({ name }) => name));
  const added = [...names].filter((name) => !known.announced.has(name));
  const removed = [...known.announced].filter((name) => !names.has(name));
  if (added.length + removed.length === 0) return [];
  const text = [
    `Tools that you can load with ${SELECT_TOOLS} have come or gone; do not mention this to the user.`,
    ...block('tools_added', added),
    ...block('tools_removed', removed),
  ].join('\n');
  const disclosure: Disclosure = { added, removed };
  return [reminder(LOADABLE_TOOLS, text, disclosure)];
}

const block = (tag: string, names: readonly string[]) => (names.length > 0 ? [`<${tag}>`, ...names, `</${tag}>`] : []);

/** Declares the requested schemas that the conversation does not have in their present form. */
function declaration(tools: readonly Tool[], { asked, loaded }: AnnouncedTools): ContextMessage[] {
  const declared = tools
    .filter(({ name }) => asked.has(name))
    .map(({ name, description, parameters }) => ({ name, description, parameters }))
    .filter((schema) => !isDeepStrictEqual(schema, loaded.get(schema.name)));
  if (declared.length === 0) return [];
  const origin = { kind: 'injection' as const, variant: 'dynamic_tool_schema' };
  return [{ role: 'system', content: [], toolCalls: [], tools: declared, origin }];
}

export const toolSelection: Feature = { name: 'tool-selection', open };
