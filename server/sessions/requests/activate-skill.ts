/** Slash commands of people: skills, which enter the running turn, and commands of plugins. */
import { ServiceError } from '#server/errors/service-error.ts';
import { DEFAULT_PROFILE } from '#server/agent/profiles/built-in.ts';
import type { Agent } from '#server/agent/contract/agent.ts';
import type { AgentChange } from '#server/agent/contract/config.ts';
import type { PromptInput, PromptOrigin } from '#server/agent/contract/prompts.ts';
import type { Draft } from '#server/journal/records.ts';
import type { Whole } from '#server/journal/texts.ts';
import { activateCommand, findCommand } from '#server/plugins/commands.ts';
import { activateByUser } from '#server/skills/activation.ts';
import { findSkill } from '#server/skills/skill.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { ActivateSkill } from '#schema/rest/skill.ts';
import type { Prompt } from '#schema/rest/prompt.ts';
import type { LiveSession } from '../live/session.ts';
import { metadataText } from '../index/prompt-text.ts';
import { checkSessionMedia, checkUploads, storePromptMedia } from './prompt-content.ts';
import type { SubmitDeps } from './submit-prompt.ts';

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
 * Activates a skill, or the command of a plugin, in the main agent. Resolves when its turn has started, when it has
 * entered the running turn or when it was queued. Throws `session.not_found`, `skill.not_found`,
 * `skill.not_activatable`, `file.not_found`, `validation.failed`, `persistence.failure`.
 */
export async function activateSkillIn(
  sessionId: string,
  name: string,
  { args, attachments = [] }: ActivateSkill,
  deps: SubmitDeps,
): Promise<void> {
  const { starting } = await deps.use(sessionId, async (session) => {
    const command = await commandOf(session, name, args);
    await checkUploads(attachments, deps.uploads);
    await checkSessionMedia(attachments, session.log.dir, 'attachments');
    return run(session, command, { typed: `/${name} ${args ?? ''}`.trim(), attachments }, deps);
  });
  // The hooks on a prompt may take minutes: they keep the session loaded themselves.
  await starting;
}

/** A skill has precedence over a command of its name. Throws `skill.not_found`, `skill.not_activatable`. */
async function commandOf({ id, context }: LiveSession, name: string, args: string | undefined): Promise<SlashCommand> {
  const { services, cwd } = context;
  const skills = await services.skills.look(cwd);
  const command = findSkill(skills, name) ? undefined : findCommand(await services.commands.look(), name);
  if (command) {
    const { text, origin, event } = activateCommand(command, args);
    return { origin, text, activated: event(MAIN_AGENT), steers: false };
  }
  const { facts, text, event } = activateByUser(skills, name, { args, sessionId: id });
  const origin: PromptOrigin = { kind: 'skill_activation', trigger: 'user-slash', ...facts };
  return { origin, text, activated: event(MAIN_AGENT), steers: true };
}

async function run(
  session: LiveSession,
  { origin, text, activated, steers }: SlashCommand,
  { typed, attachments }: { typed: string; attachments: NonNullable<ActivateSkill['attachments']> },
  { models, uploads }: SubmitDeps,
): Promise<{ starting: Promise<Prompt['status']> | undefined }> {
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
  return { starting: agent.starting(id) };
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
