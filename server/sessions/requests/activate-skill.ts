/** Activation of a skill by a person: it enters the running turn, or opens one like a prompt. */
import { ServiceError } from '#server/errors/service-error.ts';
import { DEFAULT_PROFILE } from '#server/agent/profiles/built-in.ts';
import type { Agent } from '#server/agent/contract/agent.ts';
import type { AgentChange } from '#server/agent/contract/config.ts';
import type { PromptInput, PromptOrigin } from '#server/agent/contract/prompts.ts';
import type { Draft } from '#server/journal/records.ts';
import type { Whole } from '#server/journal/texts.ts';
import { activateSkill, type SkillActivation } from '#server/skills/activation.ts';
import { findSkill, type SkillCatalog } from '#server/skills/skill.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { ActivateSkill } from '#schema/rest/skill.ts';
import type { Prompt } from '#schema/rest/prompt.ts';
import type { LiveSession } from '../live/session.ts';
import { metadataText } from '../index/prompt-text.ts';
import { checkSessionMedia, checkUploads, storePromptMedia } from './prompt-content.ts';
import type { SubmitDeps } from './submit-prompt.ts';

/** Returns the expanded skill. Throws `skill.not_found`, `skill.not_activatable`. */
export function activateByUser(
  catalog: SkillCatalog,
  name: string,
  { args, sessionId }: { args: string | undefined; sessionId: string },
): SkillActivation {
  const skill = findSkill(catalog, name);
  if (!skill) throw new ServiceError('skill.not_found', `Skill "${name}" was not found`);
  if (skill.kind === 'reference') {
    throw new ServiceError('skill.not_activatable', `Skill "${skill.name}" cannot be activated by the user`);
  }
  return activateSkill(skill, { args, sessionId, trigger: 'user-slash' });
}

/** A slash command of a person, before its attachments are stored. */
interface SlashCommand {
  origin: PromptOrigin;
  /** Text for the model. */
  text: string;
  activated: Draft;
  /** Whether it enters a running turn. */
  steers: boolean;
}

/**
 * Activates a skill in the main agent. Resolves when its turn has started, when it has entered the running turn or when
 * it was queued. Throws `session.not_found`, `skill.not_found`, `skill.not_activatable`, `file.not_found`,
 * `validation.failed`, `persistence.failure`.
 */
export async function activateSkillIn(
  sessionId: string,
  name: string,
  { args, attachments = [] }: ActivateSkill,
  deps: SubmitDeps,
): Promise<void> {
  const starting = await deps.use(sessionId, async (session) => {
    const { services, cwd } = session.context;
    const activation = activateByUser(await services.skills.look(cwd), name, { args, sessionId });
    const command: SlashCommand = {
      origin: { kind: 'skill_activation', trigger: 'user-slash', ...activation.facts },
      text: activation.text,
      activated: activation.event(MAIN_AGENT),
      steers: true,
    };
    await checkUploads(attachments, deps.uploads);
    await checkSessionMedia(attachments, session.log.dir, 'attachments');
    return run(session, command, { typed: `/${name} ${args ?? ''}`.trim(), attachments }, deps);
  });
  await starting;
}

async function run(
  session: LiveSession,
  { origin, text, activated, steers }: SlashCommand,
  { typed, attachments }: { typed: string; attachments: NonNullable<ActivateSkill['attachments']> },
  { models, uploads }: SubmitDeps,
): Promise<Promise<Prompt['status']> | undefined> {
  const { agents, context, log } = session;
  const agent = agents.main;
  await log.claim();
  const place = { uploads, images: context.services.images, sessionDir: log.dir };
  const { content, ...media } = await storePromptMedia(attachments, place);
  const forms: Omit<Whole<PromptInput>, 'content'> = {
    ...media,
    eventContent: [{ type: 'text', text: typed }, ...media.eventContent],
    parts: [{ type: 'text', text }, ...media.parts],
    text: text + media.text,
    typed,
  };
  const input = { content: [{ type: 'text' as const, text: typed }, ...content], ...(await log.store(forms)) };
  await agent.context.config.change(bindingOf(session, models));
  const id = session.newPromptId();
  const head = [activated, ...session.promptAccepted(metadataText([{ type: 'text', text: typed }]))];
  const { status } = agent.submit({ id, origin, input, createdAt: context.clock.now() }, head);
  if (status === 'queued' && steers) steer(agent, id);
  return agent.starting(id);
}

/** Moves the prompt into the running turn; without one it stays queued. */
function steer(agent: Agent, promptId: string): void {
  try {
    agent.steer([promptId]);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.name !== 'prompt.not_found') throw error;
  }
}

/** Profile and model of an agent that was never used. Without a usable model the turn fails, not the activation. */
function bindingOf(session: LiveSession, models: SubmitDeps['models']): AgentChange {
  const { model, profile } = session.mainView();
  const change: AgentChange = {};
  const { services } = session.context;
  const alias = models.defaultModel();
  if (profile === undefined) change.profile = services.profiles(session.context).get(DEFAULT_PROFILE);
  if (model === undefined && alias !== undefined && isUsable(alias, services)) change.model = alias;
  return change;
}

function isUsable(alias: string, services: LiveSession['context']['services']): boolean {
  try {
    services.resolveModel(alias);
    return true;
  } catch {
    return false;
  }
}
