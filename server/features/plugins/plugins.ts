/** Plugins in a session: their sections of the system prompt, the reminders about them, and warnings about their files. */
import type { AgentContext, SessionContext } from '#server/agent/contract/context.ts';
import type { Feature, FeatureServices, LiveFeature } from '#server/agent/contract/feature.ts';
import { reminder } from '#server/agent/prompt/reminders.ts';
import type { Plugins } from '#server/plugins/plugins.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { ContextMessage } from '#schema/engine.ts';
import type { SessionWarning } from '#schema/rest/session.ts';
import { createFileWarnings } from '../file-warnings.ts';
import { pluginSections } from './sections.ts';
import { isStartDue, startReminder } from './session-start.ts';

declare module '#server/agent/contract/feature.ts' {
  interface FeatureServices {
    readonly plugins: Pick<Plugins, 'enabled' | 'problems' | 'onChange'>;
  }
}

const CHANGED =
  'The installed plugins have changed. This session keeps its system prompt and its MCP tools; new sessions have those of the changed plugins. Skills, slash commands and hooks follow the change now.';

function open(session: SessionContext, { plugins }: FeatureServices): LiveFeature {
  const { log, services } = session;
  const { commands } = services;
  const reportWarnings = createFileWarnings(session, {
    name: 'plugins',
    check: async () => [...problems(), ...(await commands.look()).warnings],
  });
  /** Whether plugins have changed since the main agent's last step. */
  let hasChanged = false;
  /** The reminder of the conversation's start, rendered before the step that includes it. */
  let start: ContextMessage | undefined;

  /** The last warnings by text: each stays the same object while its finding exists. */
  let known = new Map<string, SessionWarning>();

  function problems(): SessionWarning[] {
    const found = plugins.problems().map(({ path, message }) => `${path}: ${message}`);
    known = new Map(
      found.map((message) => [message, known.get(message) ?? { code: 'plugin-invalid', message, severity: 'warning' }]),
    );
    return [...known.values()];
  }

  const stopListening = plugins.onChange(() => {
    if (log.state.status.agents.has(MAIN_AGENT)) hasChanged = true;
  });

  async function renderStart({ state }: AgentContext): Promise<void> {
    const catalog = await services.skills.look(session.cwd);
    const isRepeated = state().barrier > 0;
    start = startReminder(plugins.enabled(), catalog, { sessionId: session.id, isRepeated });
  }

  return {
    promptSections: async () => pluginSections(plugins.enabled()),
    onTurnStart: reportWarnings,
    beforeStep(agent) {
      start = undefined;
      if (agent.id !== MAIN_AGENT || !isStartDue(agent.state())) return undefined;
      const hasStart = plugins.enabled().some(({ manifest }) => manifest.sessionStartSkill !== undefined);
      return hasStart ? renderStart(agent) : undefined;
    },
    reminders({ id }) {
      if (id !== MAIN_AGENT) return [];
      return [...(start ? [start] : []), ...(hasChanged ? [reminder('plugin_change', CHANGED)] : [])];
    },
    onStepStart({ id }) {
      if (id === MAIN_AGENT) {
        hasChanged = false;
        start = undefined;
      }
      return {};
    },
    warnings: () => [...problems(), ...commands.seen().warnings],
    async onUnload() {
      stopListening();
    },
  };
}

export const plugins: Feature = { name: 'plugins', open };
