/** Skills in a session: their list in the system prompt, the Skill tool, and warnings about files that are not used. */
import type { AgentContext, SessionContext, TurnInput } from '#server/agent/contract/context.ts';
import type { Feature, LiveFeature } from '#server/agent/contract/feature.ts';
import type { Stored } from '#server/journal/texts.ts';
import { activateSkill, type SkillActivation } from '#server/skills/activation.ts';
import type { SkillUse } from '#server/skills/expand.ts';
import { isForModel, skillListing } from '#server/skills/listing.ts';
import { similarNames } from '#server/skills/similar-names.ts';
import { findSkill, type Skill } from '#server/skills/skill.ts';
import { failed, type Tool, type ToolResult } from '#server/tools/tool.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { createFileWarnings } from '../file-warnings.ts';
import { isLoaded, loadedSkills, nextDepth } from './loaded-blocks.ts';
import { createSkillTool, SKILL, unknownSkill } from './tool.ts';
import { skillsTranscript } from './transcript.ts';

/** Calls of Skill by a skill may be nested this deep. */
const MAX_DEPTH = 3;

const FOLLOWS = 'Its instructions follow as the next message. If they do not, call Skill again.';

/** A block that enters at the agent's next step. */
interface PendingBlock {
  activationId: string;
  use: Pick<SkillUse, 'args'>;
  skill: Skill;
  message: Stored<ContextMessage>;
}

function open(session: SessionContext): LiveFeature {
  const { log, services } = session;
  const { skills } = services;
  const tools = new Map<string, readonly Tool[]>();
  /** By agent. */
  const pending = new Map<string, PendingBlock[]>();
  const reportWarnings = createFileWarnings(session, {
    name: 'skills',
    check: async () => (await skills.look(session.cwd)).warnings,
  });

  /** The blocks that have not entered the context yet. */
  function pendingOf({ id, state }: AgentContext): PendingBlock[] {
    const waiting = pending.get(id) ?? [];
    if (waiting.length === 0) return waiting;
    const entered = new Set(
      state().entries.flatMap(({ message: { origin } }) =>
        origin?.kind === 'skill_activation' ? [origin.activationId] : [],
      ),
    );
    const left = waiting.filter(({ activationId }) => !entered.has(activationId));
    pending.set(id, left);
    return left;
  }

  /** Why the model may not load the skill; undefined if it may. */
  function refusal(skill: Skill): string | undefined {
    if (isForModel(skill)) return undefined;
    return skill.kind === 'reference'
      ? `The skill "${skill.name}" is a reference: read its file instead.`
      : `The skill "${skill.name}" can only be activated by the user.`;
  }

  async function load(agent: AgentContext, name: string, args: string | undefined): Promise<ToolResult> {
    const catalog = await skills.look(session.cwd);
    const skill = findSkill(catalog, name);
    if (!skill) return unknownSkill(name, similarNames(catalog, name));
    const refused = refusal(skill);
    if (refused !== undefined) return failed(refused);
    const depth = nextDepth(agent.state().entries);
    if (depth > MAX_DEPTH) return failed(`[skill.nested_too_deep] Skills are nested at most ${MAX_DEPTH} deep.`);
    const use: SkillUse = { args, sessionId: session.id, trigger: depth > 0 ? 'nested-skill' : 'model-tool' };
    const isPending = pendingOf(agent).some((one) => one.skill === skill && one.use.args === args);
    if (isPending || isLoaded(agent.state(), skill, use)) {
      return { output: `The skill "${skill.name}" is already loaded in this conversation: follow its instructions.` };
    }
    const activation = activateSkill(skill, use);
    const block = { activationId: activation.facts.activationId, use, skill };
    pending.set(agent.id, [...pendingOf(agent), { ...block, message: await messageOf(activation, use.trigger) }]);
    return { output: `The skill "${skill.name}" is loaded. ${FOLLOWS}`, records: [activation.event(agent.id)] };
  }

  const messageOf = ({ text, facts }: SkillActivation, trigger: SkillUse['trigger']): Promise<Stored<ContextMessage>> =>
    log.store({
      role: 'user',
      content: [{ type: 'text', text }],
      toolCalls: [],
      origin: { kind: 'skill_activation', trigger, ...facts },
    });

  return {
    tools(agent) {
      const made = tools.get(agent.id) ?? [createSkillTool((name, args) => load(agent, name, args))];
      tools.set(agent.id, made);
      return made;
    },
    async promptSections(_agent, activeTools) {
      if (!activeTools.has(SKILL)) return {};
      const { text, warning } = skillListing(await skills.look(session.cwd));
      return { skills: text, ...(warning ? { warnings: [warning] } : {}) };
    },
    onTurnStart: reportWarnings,
    pendingInput: (agent): TurnInput[] => pendingOf(agent).map(({ message }) => ({ messages: [message] })),
    onTurnEnd({ id }) {
      pending.delete(id);
      return {};
    },
    summary(agent) {
      const names = loadedSkills(agent.state());
      return names.length === 0 ? '' : `## Skills in use\n${names.map((name) => `- ${name}`).join('\n')}`;
    },
    warnings: () => skills.seen(session.cwd).warnings,
  };
}

export const skills: Feature = { name: 'skills', transcript: skillsTranscript, open };
