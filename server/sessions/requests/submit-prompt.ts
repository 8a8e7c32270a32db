/** Submitting a prompt: the checks in their order, then the effects in theirs. */
import { invalidField } from '#server/errors/service-error.ts';
import { DEFAULT_PROFILE } from '#server/agent/profiles/built-in.ts';
import { internal, type Draft } from '#server/journal/records.ts';
import { userOrigin } from '#server/journal/typed-prompts.ts';
import { activateByUser, type SkillActivation } from '#server/skills/activation.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { Agent } from '#server/agent/contract/agent.ts';
import type { AgentChange } from '#server/agent/contract/config.ts';
import type { Profiles } from '#server/agent/contract/profile.ts';
import type { Caller } from '#schema/rest/caller.ts';
import type { Prompt, SubmitPrompt } from '#schema/rest/prompt.ts';
import type { ModelChecks } from '#server/models/model-checks.ts';
import type { Uploads } from '#server/uploads/uploads.ts';
import type { LiveSession } from '../live/session.ts';
import { checkContent, checkUploads, storePromptMedia } from './prompt-content.ts';
import { metadataText } from '../index/prompt-text.ts';

export interface SubmitDeps {
  use<T>(sessionId: string, work: (session: LiveSession) => Promise<T>): Promise<T>;
  models: ModelChecks;
  uploads: Pick<Uploads, 'find' | 'open' | 'copy'>;
  /** The client that submits the prompt. */
  by?: Caller | undefined;
}

/**
 * Accepts a prompt. Resolves when its turn has started, or when it was refused or queued; does not wait for the turn's
 * end.
 */
export async function submitPrompt(sessionId: string, body: SubmitPrompt, deps: SubmitDeps): Promise<Prompt> {
  await checkUploads(body.content, deps.uploads);
  const { prompt, starting } = await deps.use(sessionId, (session) => accept(session, body, deps));
  // A feature's work before the turn may take minutes: it keeps the session loaded itself, so `use` does not span it.
  return starting ? { ...prompt, status: await starting } : prompt;
}

interface Accepted {
  prompt: Prompt;
  starting: Promise<Prompt['status']> | undefined;
}

async function accept(session: LiveSession, body: SubmitPrompt, deps: SubmitDeps): Promise<Accepted> {
  const skills = await activatedSkills(session, body);
  await checkContent(body.content, session.log.dir);
  return session.agents.use(body.agent_id ?? MAIN_AGENT, (agent) => acceptFor(agent, session, { body, skills }, deps));
}

async function acceptFor(
  agent: Agent,
  session: LiveSession,
  { body, skills }: { body: SubmitPrompt; skills: readonly SkillActivation[] },
  { models, uploads, by }: SubmitDeps,
): Promise<Accepted> {
  const promptId = body.prompt_id ?? session.newPromptId();
  agent.queue.reserve(promptId);
  try {
    const current = session.agentView(agent.id);
    await models.assertReady(body.model ?? current.model);
    const { services } = session.context;
    const binds = body.profile !== undefined || current.profile === undefined;
    const { profiles } = binds
      ? await services.lookAtProfiles(session.context)
      : { profiles: services.profiles(session.context) };
    const change = overrides(body, current, profiles, models);
    await session.log.claim();
    const place = { uploads, images: services.images, sessionDir: session.log.dir };
    const { content, ...journaled } = await storePromptMedia(body.content, place);
    const title = metadataText(content);
    const blocks = skills.map(({ text }) => ({ type: 'text' as const, text }));
    const parts = [...blocks, ...journaled.parts];
    const input = { content, ...(await session.log.store({ ...journaled, parts })) };
    await agent.context.config.change({ ...change, by });
    const head = [
      ...toolList(session, body.disabled_tools),
      ...session.promptAccepted(title),
      ...skills.map((skill) => skill.event(agent.id)),
    ];
    const origin = userOrigin(skills.map(({ facts }) => facts));
    const queued = { id: promptId, origin, input, createdAt: session.context.clock.now() };
    const prompt = agent.submit(queued, head);
    return { prompt, starting: agent.starting(promptId) };
  } finally {
    agent.queue.release(promptId);
  }
}

/** The skills that precede the prompt, all checked before anything is changed. */
async function activatedSkills(session: LiveSession, { skills, prompt_id }: SubmitPrompt): Promise<SkillActivation[]> {
  if (!skills) return [];
  if (prompt_id !== undefined) throw invalidField('prompt_id', 'prompt_id cannot be combined with skills');
  const { id: sessionId, context } = session;
  const catalog = await context.services.skills.look(context.cwd);
  return skills.map(({ name, args }) => activateByUser(catalog, name, { args, sessionId }));
}

/**
 * Validates and returns the changes of the agent that the body requests; an unbound agent gets the default profile and
 * model.
 */
function overrides(
  body: SubmitPrompt,
  current: { model: string | undefined; profile: string | undefined },
  profiles: Profiles,
  models: ModelChecks,
): AgentChange {
  const change: AgentChange = {};
  const named = body.profile === undefined ? undefined : profiles.get(body.profile);
  if (body.profile !== undefined && !named) {
    const available = [...profiles.keys()].join(', ');
    throw invalidField('profile', `Unknown agent profile: "${body.profile}". Available profiles: ${available}`);
  }
  if (named && current.profile !== undefined && named.name !== current.profile) {
    throw invalidField(
      'profile',
      `agent is already bound to profile "${current.profile}"; cannot switch to "${named.name}" in this session`,
    );
  }
  const model = body.model ?? (current.model === undefined ? models.defaultModel() : undefined);
  if (current.profile === undefined) change.profile = named ?? profiles.get(DEFAULT_PROFILE);
  if (model !== undefined) change.model = model;
  const alias = model ?? current.model;
  if (body.thinking !== undefined && alias !== undefined) {
    models.assertEffort(alias, body.thinking);
    change.thinking = body.thinking;
  }
  if (body.permission_mode) change.permission = body.permission_mode;
  return change;
}

function toolList(session: LiveSession, disabled: string[] | undefined): Draft[] {
  if (disabled === undefined) return [];
  const same = JSON.stringify(disabled) === JSON.stringify(session.disabledTools());
  return same ? [] : [internal(MAIN_AGENT, 'session.tools', { disabled })];
}
