/**
 * Configuration of an agent: profile, model, effort, permission mode, system prompt. Each value is a journal record and
 * is read from its fold; this module applies the changes.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { readContext } from '#server/journal/projections/context.ts';
import {
  internal,
  event,
  type AgentConfigFields,
  type CompleteDraft,
  type Draft,
  type InternalFields,
} from '#server/journal/records.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import type { SessionWarning } from '#schema/rest/session.ts';
import { LOCAL_RUNTIME } from '#server/runtime/local.ts';
import { contextLimit } from '#server/models/budget.ts';
import { EngineError } from '../contract/errors.ts';
import type { AgentContext } from '../contract/context.ts';
import { mainProfile } from '../profiles/built-in.ts';
import type { Instructions } from '../prompt/instructions.ts';
import type { StatusFrames } from '../loop/status-frames.ts';
import {
  directoryHeading,
  instructionsSection,
  shownDirectories,
  type PromptSections,
} from '../prompt/system-prompt.ts';
import type { AgentChange, TurnModel, AgentConfig, AgentBirth } from '../contract/config.ts';
import type { Profile } from '../contract/profile.ts';

/** The record of a binding. `mainOnly` are the names of tools that an agent which works for another one never gets. */
function bindingOf(profile: Profile, agentId: string, mainOnly: readonly string[]): InternalFields['agent.bound'] {
  const { name, tools, disallowedTools = [], subagents } = profile;
  const sub = agentId !== MAIN_AGENT;
  const disallowed = sub ? [...disallowedTools, ...mainOnly] : [...disallowedTools];
  return {
    profile: name,
    tools: tools === '*' ? tools : [...tools],
    ...(disallowed.length > 0 ? { disallowed } : {}),
    ...(subagents && !sub ? { subagents: subagents === '*' ? subagents : [...subagents] } : {}),
  };
}

const NO_SECTIONS: PromptSections = { skills: '', plugins: '' };
const SKILL_TOOL = 'Skill';

export interface AgentLife {
  /** Present for an agent other than main that the session does not have yet. */
  birth?: AgentBirth | undefined;
  /** Whether this process has already recorded `agent.created`. */
  created?: boolean | undefined;
}

/** Creates the configuration over a loaded journal; appends nothing. */
export function createAgentConfig(agent: AgentContext, frames: StatusFrames, life: AgentLife = {}): AgentConfig {
  const { id, log, session, state } = agent;
  const { services, id: sessionId, workspaceId, cwd, dir } = session;
  const location = { id: sessionId, workspaceId, cwd, dir };
  const reportedPatterns = new Set<string>();
  let created = life.created ?? false;
  let warnings: SessionWarning[] = [];
  /** Warnings about agent files. */
  let fileWarnings: readonly SessionWarning[] = [];
  /** Inputs of the current prompt; undefined until this process has rendered or verified it. */
  let rendered: { instructions: string; additionalDirs: string; tools: string } | undefined;

  const permission = () => state().config.permission ?? services.defaultPermission();
  const bound = () => state().config.model;
  const maxContextTokens = () => state().config.maxContextTokens ?? undefined;

  const system = (): Promise<string> => log.load(state().system);

  /** Sorted, because journals list them in that order. */
  const mainOnlyTools = () =>
    agent
      .tools()
      .all.flatMap(({ name, mainOnly }) => (mainOnly ? name : []))
      .toSorted();

  const toolNames = () => [...agent.tools().activeNames].join();

  /** Reads the current inputs of the prompt: instructions, additional directories, tool names. */
  async function lookAround() {
    const [instructions, additionalDirs] = await Promise.all([
      services.readInstructions(session),
      // The prompt is recorded, so it does not name directories that a client has sent.
      services.reach(location).additionalDirs(),
    ]);
    const shown = { instructions: instructions.text, additionalDirs: additionalDirs.join('\0'), tools: toolNames() };
    return { instructions, additionalDirs, shown };
  }

  async function renderedPrompt(cause: string, profile: Profile, isFirst: boolean): Promise<CompleteDraft[]> {
    const { shown, ...inputs } = await lookAround();
    rendered = shown;
    const { instructions } = inputs;
    const activeTools = isFirst ? toolsOf(profile) : agent.tools().activeNames;
    const { sections, warnings: sectionWarnings } = isFirst
      ? await newSections(activeTools)
      : { sections: await log.load(state().frozen ?? NO_SECTIONS), warnings: [] };
    // An agent that cannot load skills needs no list of them.
    const used = activeTools.has(SKILL_TOOL) ? sections : { ...sections, skills: '' };
    const text = await services.renderPrompt(session, { ...inputs, sections: used }, profile);
    const sha256 = createHash('sha256').update(text).digest('hex');
    const { text: stored, frozen } = await log.store({ text, frozen: sections });
    const drafts = [...warn(instructions.warnings), ...sectionWarnings.map(warning)];
    if (sha256 === state().systemSha256) return drafts;
    const fields = { text: stored, sha256, cause, ...(isFirst ? { frozen } : {}) };
    return [internal(id, 'agent.prompt', fields), ...drafts];
  }

  /** Names of the tools that are active for an agent which is bound to this profile. */
  const toolsOf = (profile: Profile): ReadonlySet<string> =>
    services.toolPolicy(
      agent.tools().all.map(({ name }) => name),
      bindingOf(profile, id, mainOnlyTools()),
      state().disabledTools,
    ).active;

  async function newSections(activeTools: ReadonlySet<string>) {
    const made = await Promise.all(
      session.features.flatMap((feature) => feature.promptSections?.(agent, activeTools) ?? []),
    );
    const sections = { ...NO_SECTIONS };
    for (const { skills, plugins } of made) {
      if (skills !== undefined) sections.skills = skills;
      if (plugins !== undefined) sections.plugins = plugins;
    }
    return { sections, warnings: made.flatMap(({ warnings = [] }) => warnings) };
  }

  const warning = ({ message, code }: SessionWarning): CompleteDraft => event(id, 'warning', { message, code });

  /** Whether the prompt, possibly rendered by an earlier process, contains exactly these files and directories. */
  async function shows(instructions: Instructions, additionalDirs: readonly string[]): Promise<boolean> {
    const section = instructionsSection(instructions);
    const text = await system();
    if (!isDeepStrictEqual(shownDirectories(text), additionalDirs.map(directoryHeading))) return false;
    return section ? text.includes(section) : (await shownInstructions()).length === 0;
  }

  /** Warnings about entries of the tool lists that match no tool, each returned a single time. */
  function patternWarnings(): Draft[] {
    const fresh = agent.tools().ineffective.filter((pattern) => !reportedPatterns.has(pattern));
    return fresh.map((pattern) => {
      reportedPatterns.add(pattern);
      const message = `The tool list entry "${pattern}" fits no tool.`;
      return event(id, 'warning', { message, code: 'tool-pattern-no-match' });
    });
  }

  /** Replaces the warnings and returns records of the new ones. */
  function warn(next: SessionWarning[]): CompleteDraft[] {
    const fresh = next.filter((warning) => !warnings.some((known) => known.message === warning.message));
    warnings = next;
    return fresh.map(warning);
  }

  /** Compares warnings by identity, so that a warning is repeated after its file has changed. */
  function warnOfFiles(next: readonly SessionWarning[]): Draft[] {
    if (id !== MAIN_AGENT) return [];
    const fresh = next.filter((warning) => !fileWarnings.includes(warning));
    fileWarnings = next;
    return fresh.map(warning);
  }

  function create(change: AgentChange = {}): void {
    if (created) return;
    const firstLife = !log.state.status.agents.has(id);
    const { birth } = life;
    const { purpose, parentAgentId, label } = birth ?? {};
    const x = birth
      ? { kind: 'sub' as const, parentAgentId, ...(label === undefined ? {} : { label }), purpose }
      : { kind: id === MAIN_AGENT ? ('main' as const) : ('sub' as const) };
    const permission = birth?.permission ?? services.defaultPermission();
    log.append([
      event(id, 'agent.created', {}, firstLife ? x : undefined),
      ...(firstLife
        ? [internal(id, 'agent.config', { permission, runtimeId: birth?.runtimeId ?? LOCAL_RUNTIME })]
        : []),
      ...((firstLife && birth?.records?.(id)) || []),
      ...session.features.flatMap((feature) => feature.onAgentCreated?.(agent, change) ?? []),
    ]);
    created = true;
    const fields = session.features.map((feature) => feature.statusFields?.(agent));
    frames.facts(Object.assign({ thinkingEffort: state().config.thinkingEffort }, ...fields));
  }

  /** Members of `agent.config` that a change sets to another value. */
  function configOf(change: AgentChange): AgentConfigFields {
    const present = state().config;
    const fields: AgentConfigFields = {};
    const alias = change.model ?? bound();
    if (alias && (change.model !== undefined || change.thinking !== undefined)) {
      const model = services.resolveModel(alias);
      const effort = services.effort(model, change.thinking ?? present.thinkingEffort);
      if (alias !== present.model) fields.model = alias;
      if (effort !== present.thinkingEffort) fields.thinkingEffort = effort;
      const limit = contextLimit(model);
      if (limit !== (present.maxContextTokens ?? undefined)) fields.maxContextTokens = limit ?? null;
    }
    // Without a model the requested effort is stored unresolved, for the model that is bound later.
    if (!alias && change.thinking !== undefined) fields.thinkingEffort = change.thinking;
    if (change.permission && change.permission !== permission()) {
      fields.permission = change.permission;
      if (change.by) fields.by = change.by;
    }
    if (change.runtimeId && change.runtimeId !== present.runtimeId) fields.runtimeId = change.runtimeId;
    return fields;
  }

  /** Anthropic accepts efforts that the model's record does not list; such an effort yields a warning. */
  function effortWarning({ model: alias = bound(), thinkingEffort: effort }: AgentConfigFields): Draft[] {
    if (alias === undefined || effort === undefined || effort === 'on' || effort === 'off') return [];
    const { protocol, supportEfforts } = services.resolveModel(alias);
    if (protocol !== 'anthropic' || supportEfforts.length === 0 || supportEfforts.includes(effort)) return [];
    const message = `Thinking effort "${effort}" is not among those that model "${alias}" lists: ${supportEfforts.join(', ')}.`;
    return [event(id, 'warning', { message, code: 'thinking-effort-not-listed' })];
  }

  const followsMain = (mode: PermissionMode) =>
    id !== MAIN_AGENT && readContext(log.state.context, MAIN_AGENT).config.permission === mode;

  async function change(wanted: AgentChange): Promise<void> {
    create(wanted);
    const profile = state().bound === undefined ? wanted.profile : undefined;
    const prompt = profile ? await renderedPrompt('bound', profile, true) : [];
    const drafts: Draft[] = [];
    // A concurrent change may have bound the agent meanwhile.
    const bind = state().bound === undefined ? profile : undefined;
    if (bind) drafts.push(internal(id, 'agent.bound', bindingOf(bind, id, mainOnlyTools())));
    const fields = configOf(wanted);
    if (Object.keys(fields).length > 0) drafts.push(internal(id, 'agent.config', fields));
    drafts.push(...effortWarning(fields));
    if (bind) drafts.push(...prompt);
    if (drafts.length === 0) return;
    log.append(drafts);
    const { permission, thinkingEffort, by } = fields;
    if (permission !== undefined && !followsMain(permission)) session.modeChanged(permission, by);
    frames.facts({
      ...(permission === undefined ? {} : { permission }),
      ...(thinkingEffort === undefined ? {} : { thinkingEffort }),
    });
  }

  /** The bound profile; if it no longer exists, main's: only its prompt matters, as tools are stored in the binding. */
  function ownProfile(): Profile {
    const name = state().bound?.profile;
    return (name === undefined ? undefined : services.profiles(session).get(name)) ?? mainProfile;
  }

  /** On failure the previous prompt stays in use. */
  async function renderPrompt(cause: string): Promise<CompleteDraft[]> {
    try {
      return await renderedPrompt(cause, ownProfile(), false);
    } catch (error) {
      session.report(`the system prompt of ${id} in ${log.sessionId} could not be rendered`, error);
      const message = `The system prompt could not be brought up to date: ${errorMessage(error)}`;
      return [event(id, 'warning', { message, code: 'system-prompt-refresh-failed' })];
    }
  }

  async function refreshPrompt(cause: string): Promise<void> {
    const drafts = await renderPrompt(cause);
    if (drafts.length > 0) log.append(drafts);
  }

  function modelSide(): Omit<TurnModel, 'system'> {
    const alias = bound();
    if (!alias) throw new EngineError('model.not_configured', 'No model is bound to this agent.');
    const model = services.resolveModel(alias);
    const effort = services.effort(model, state().config.thinkingEffort);
    return { model, settings: services.settings(model, effort) };
  }

  async function freeze(): Promise<TurnModel> {
    const { model, settings } = modelSide();
    const limit = contextLimit(model);
    if (limit !== maxContextTokens()) log.append([internal(id, 'agent.config', { maxContextTokens: limit ?? null })]);
    const [{ instructions, additionalDirs, shown }, catalog] = await Promise.all([
      lookAround(),
      services.lookAtProfiles(session),
    ]);
    rendered ??= (await shows(instructions, additionalDirs)) ? shown : undefined;
    if (rendered?.instructions !== shown.instructions) await refreshPrompt('instructions');
    else if (rendered.additionalDirs !== shown.additionalDirs) await refreshPrompt('additional_dirs');
    else if (rendered.tools !== shown.tools) await refreshPrompt('tools');
    const warningDrafts = [...warn(instructions.warnings), ...warnOfFiles(catalog.warnings), ...patternWarnings()];
    if (warningDrafts.length > 0) log.append(warningDrafts);
    return { model, settings, system: await system() };
  }

  async function shownInstructions(): Promise<string[]> {
    return [...(await system()).matchAll(/^<!-- From: (.+) -->$/gm)].map((match) => match[1] ?? '');
  }

  return {
    get created() {
      return created;
    },
    model: bound,
    permission,
    maxContextTokens,
    warnings: () => [...warnings, ...fileWarnings],
    create,
    change,
    renderPrompt,
    async present() {
      return { ...modelSide(), system: await system() };
    },
    freeze,
    shownInstructions,
  };
}
