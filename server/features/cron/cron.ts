/** Prompts that the main agent schedules for itself, folded from the journal; they fire while the session is loaded. */
import type { SessionContext } from '#server/agent/contract/context.ts';
import type { Feature, FeatureServices, LiveFeature } from '#server/agent/contract/feature.ts';
import type { Tool } from '#server/tools/tool.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import { createCronActions } from './actions.ts';
import { cronJobs } from './projection.ts';
import { cronSettings } from './settings.ts';
import { createCronTools } from './tools.ts';
import { cronTranscript } from './transcript.ts';
import { createCronWork, type CronServices } from './work.ts';

declare module '#server/agent/contract/feature.ts' {
  interface FeatureServices {
    readonly cron: CronServices;
  }
}

function open(session: SessionContext, { cron: services }: FeatureServices): LiveFeature {
  const work = createCronWork(session, services);
  let tools: readonly Tool[] | undefined;
  return {
    tools({ id, log }) {
      // A side conversation's prompt lists the main agent's tools; it cannot call any of these.
      const side = log.state.status.agents.get(id)?.birth?.purpose === 'btw';
      if ((id !== MAIN_AGENT && !side) || cronSettings(session.config.effective()).disabled) return [];
      tools ??= createCronTools(createCronActions(session, work.jobs));
      return tools;
    },
    onTurnEnd(agent) {
      if (agent.id === MAIN_AGENT && work.waits()) work.lookWhenFree();
      return {};
    },
    wantsLoaded: work.waits,
    onEvict: work.onEvict,
    onUnload: work.onUnload,
  };
}

export const cron: Feature = {
  name: 'cron',
  projection: cronJobs,
  transcript: cronTranscript,
  disabled: (config) => cronSettings(config).disabled,
  open,
};
