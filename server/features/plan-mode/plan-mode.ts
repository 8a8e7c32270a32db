/**
 * Plan mode: an agent explores and writes a plan, but changes nothing else, until the user has approved it. Entering
 * and leaving are records, so the mode survives a reload and follows an undo.
 */
import type { AgentContext, SessionContext } from '#server/agent/contract/context.ts';
import { EngineError } from '#server/agent/contract/errors.ts';
import type { Feature, GuardedCall, LiveFeature } from '#server/agent/contract/feature.ts';
import type { LogState } from '#server/journal/fold.ts';
import { event, internal, type Draft } from '#server/journal/records.ts';
import type { PreparedCall, Tool, ToolEffects } from '#server/tools/tool.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import { hasContent, makePlanDirectory, planFile, readPlan, writesPlanOnly, type PlanFile } from './plan-file.ts';
import { nextVersion, planOf, plans } from './projection.ts';
import { dueReminder, planReminder } from './reminders.ts';
import { newSlug } from './slug.ts';
import { createEnterPlanModeTool, createExitPlanModeTool, EXIT_PLAN_MODE, type AgentPlanMode } from './tools.ts';
import { planTranscript, planUndo } from './transcript.ts';

const PLANNED_FOR =
  'The agent that started you is planning, so nothing may be changed yet. Report what should be changed instead.';

const writesFile = ({ accesses }: PreparedCall) =>
  accesses.some((access) => access.kind === 'file' && access.mode !== 'read');

/** The effects of the call: a declared write is treated as `workspace`, regardless of the tool's declaration. */
const effectsOf = ({ tool, prepared }: GuardedCall): ToolEffects =>
  tool.effects !== 'outside' && writesFile(prepared) ? 'workspace' : tool.effects;

const stateOf = ({ features }: LogState, agentId: string) => planOf(plans.of(features), agentId);

function open(session: SessionContext): LiveFeature {
  const { log } = session;
  const tools = new Map<string, readonly Tool[]>();
  const state = (agentId: string) => stateOf(log.state, agentId);
  const fileOf = (agentId: string, id: string) => planFile(session.dir, agentId, id);

  /** The agent's plan file while it is in plan mode. */
  function openFile(agentId: string): PlanFile | undefined {
    const { active, id } = state(agentId);
    return active && id !== undefined ? fileOf(agentId, id) : undefined;
  }

  /** Whether the agent works, directly or indirectly, for one that is in plan mode. */
  function worksForPlanner(agentId: string): boolean {
    const parent = log.state.status.agents.get(agentId)?.birth?.parentAgentId;
    return parent !== undefined && (state(parent).active || worksForPlanner(parent));
  }

  /** The record that enters plan mode, and the plan's path, whose directory it creates. Throws when plan mode is on. */
  function enter(agentId: string, trigger: 'tool' | 'profile' | 'default'): { records: Draft[]; path: string } {
    const { active, id = newSlug() } = state(agentId);
    if (active) throw new EngineError('session.plan_mode_invalid', 'Plan mode is on already.');
    const file = fileOf(agentId, id);
    try {
      makePlanDirectory(file);
    } catch (error) {
      // The tool that writes the plan creates the directory too, or fails with a reason.
      session.report(`the directory of the plan ${id} could not be made`, error);
    }
    return { records: [internal(agentId, 'plan.entered', { id, trigger })], path: file.path };
  }

  const leave = (agentId: string, how: 'exit' | 'cancel'): Draft[] =>
    state(agentId).active ? [internal(agentId, 'plan.left', { how })] : [];

  const modeOf = (agentId: string): AgentPlanMode => ({
    enter: () => enter(agentId, 'tool'),
    leave: (how) => leave(agentId, how),
    async read({ runtime }) {
      const file = openFile(agentId);
      if (!file) return { problem: 'Plan mode is not on, so there is no plan to present.' };
      const plan = await readPlan(file, runtime);
      return 'problem' in plan ? plan : { ...plan, path: file.path };
    },
    async revision({ text, path }) {
      const { blob: sha256, bytes } = await log.keep(text);
      const { id = '' } = state(agentId);
      const version = nextVersion(plans.of(log.state.features), agentId, id);
      return [event(agentId, 'plan.revision', { id, version, path, sha256, bytes })];
    },
  });

  async function guardWrites({ call, prepared }: GuardedCall, file: PlanFile, { environment }: AgentContext) {
    if (await writesPlanOnly(prepared.accesses, file, environment().runtime)) return undefined;
    return `Plan mode is on: ${call.name} takes only the plan file, ${file.path}. Write the plan there and call ${EXIT_PLAN_MODE}.`;
  }

  return {
    tools({ id }) {
      const made = tools.get(id) ?? [createEnterPlanModeTool(modeOf(id)), createExitPlanModeTool(modeOf(id))];
      tools.set(id, made);
      return made;
    },

    onAgentCreated({ id }) {
      const isNew = id === MAIN_AGENT && !log.state.status.agents.has(id);
      return isNew && session.config.effective().defaultPlanMode ? enter(id, 'default').records : [];
    },
    statusFields: ({ id }) => (state(id).active ? { planMode: true } : {}),

    async configure(agent, { plan_mode: wanted }) {
      const { id } = agent;
      if (wanted === undefined || wanted === isOn(log.state, session.config)) return;
      await log.claim();
      agent.config.create();
      if (wanted === state(id).active) return;
      log.append(wanted ? enter(id, 'profile').records : leave(id, 'cancel'));
      agent.publishStatus({ planMode: wanted });
    },

    reminders({ id: agentId }) {
      const plan = state(agentId);
      const due = dueReminder(plan);
      if (!due || plan.id === undefined) return [];
      const file = fileOf(agentId, plan.id);
      const form = due === 'entry' ? (hasContent(file) ? 'reentry' : 'full') : due;
      return [planReminder(form, file.path)];
    },

    beforeToolCall(agent, guarded) {
      const file = openFile(agent.id);
      const { name } = guarded.call;
      const effects = effectsOf(guarded);
      // Subagents of an agent in plan mode must not change anything either.
      if (!file) {
        const changes = effects === 'workspace' || effects === 'outside';
        return changes && worksForPlanner(agent.id) ? PLANNED_FOR : undefined;
      }
      if (effects === 'outside') return `Plan mode is on: ${name} is not available before it has ended.`;
      if (name === EXIT_PLAN_MODE && guarded.admitted.some(writesFile)) {
        return `The plan is still being written by an earlier call of this response. Call ${EXIT_PLAN_MODE} in the next one.`;
      }
      return effects === 'workspace' ? guardWrites(guarded, file, agent) : undefined;
    },

    permissionSteps: [
      {
        // No permission mode overrides the guard, and writes to the plan file itself need no approval.
        async decide({ effects, agentId, accesses }, { places }) {
          const file = effects === 'workspace' ? openFile(agentId) : undefined;
          const allowed = file && (await writesPlanOnly(accesses, file, places.runtime));
          return allowed ? { kind: 'approve' } : undefined;
        },
      },
    ],
  };
}

/** Plan mode of the main agent; before its first use the configured default. */
const isOn = (state: LogState, config: SessionContext['config']): boolean =>
  state.status.agents.has(MAIN_AGENT) ? stateOf(state, MAIN_AGENT).active : config.effective().defaultPlanMode;

export const planMode: Feature = {
  name: 'plan-mode',
  projection: plans,
  transcript: planTranscript,
  transcriptUndo: planUndo,
  status: (state, { config }) => ({ plan_mode: isOn(state, config) }),
  open,
};
