/**
 * What an agent is bound to: profile, model, effort, permission mode, system prompt (engine.md §2.2 item 2, §11.1, §14.1).
 * Each is a record of the journal and is read from its fold; here they are changed.
 */
import { createHash } from 'node:crypto';
import { readContext } from '#server/journal/projections/context.ts';
import { internal, event, type AgentConfigFields, type Draft } from '#server/journal/records.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import type { SessionWarning } from '#schema/session.ts';
import type { Tool } from '#server/tools/tool.ts';
import { contextLimit } from './context-size.ts';
import { EngineError } from './errors.ts';
import type { AgentChange, AgentContext } from './context.ts';
import type { Instructions } from './prompt/instructions.ts';
import type { StatusFrames } from './status-frames.ts';
import { instructionsSection } from './prompt/system-prompt.ts';
import type { TurnModel } from './turn.ts';

export interface AgentConfig {
  /** Whether this process has recorded the agent's birth. */
  readonly created: boolean;
  model(): string | undefined;
  permission(): PermissionMode;
  maxContextTokens(): number | undefined;
  /** Tools that the policy allows now. */
  activeTools(): Tool[];
  warnings(): SessionWarning[];
  /** Records the agent's birth in this process; the lock must be held. */
  create(): Promise<void>;
  /** Applies a change; binds an unbound agent when a profile is given. */
  change(change: AgentChange): Promise<void>;
  /** Re-renders the system prompt; `cause` says why. */
  refreshPrompt(cause: string): Promise<void>;
  /** Model, effort and system prompt of the turn that begins. */
  freeze(): Promise<TurnModel>;
  /** Instruction files that the system prompt already shows. */
  shownInstructions(): string[];
}

/** Creates the binding over a loaded journal; appends nothing. */
export function createAgentConfig(host: AgentContext, frames: StatusFrames): AgentConfig {
  const { id, log } = host;
  const reportedPatterns = new Set<string>();
  let created = false;
  let warnings: SessionWarning[] = [];
  /** What the prompt was rendered with, as far as this process knows. */
  let rendered: { instructions: string; tools: string } | undefined;

  const context = () => readContext(log.state.context, id);
  const permission = () => context().config.permission ?? host.defaultPermission();
  const bound = () => context().config.model;
  const maxContextTokens = () => context().config.maxContextTokens ?? undefined;

  function activeTools(): Tool[] {
    const { activeTools: active } = host.environment();
    return host.tools.filter((tool) => active.has(tool.name));
  }

  const toolNames = () =>
    activeTools()
      .map((tool) => tool.name)
      .join();

  async function renderedPrompt(cause: string, frozen: boolean): Promise<Draft[]> {
    const instructions = await host.readInstructions();
    rendered = { instructions: instructions.text, tools: toolNames() };
    const text = await host.renderPrompt(instructions);
    const sha256 = createHash('sha256').update(text).digest('hex');
    const drafts = warn(instructions.warnings);
    if (text === context().system) return drafts;
    const fields = { text, sha256, cause, ...(frozen ? { frozen: { skills: '', plugins: '' } } : {}) };
    return [internal(id, 'agent.prompt', fields), ...drafts];
  }

  /** Whether the prompt, maybe of an earlier process, shows exactly these files. */
  function shows(instructions: Instructions): boolean {
    const section = instructionsSection(instructions);
    return section ? context().system.includes(section) : shownInstructions().length === 0;
  }

  /** Entries of the tool lists that fit no tool, told once each. */
  function patternWarnings(): Draft[] {
    const fresh = host.ineffectiveToolPatterns().filter((pattern) => !reportedPatterns.has(pattern));
    return fresh.map((pattern) => {
      reportedPatterns.add(pattern);
      const message = `The tool list entry "${pattern}" fits no tool.`;
      return event(id, 'warning', { message, code: 'tool-pattern-no-match' });
    });
  }

  /** Warnings are told once, when they change. */
  function warn(next: SessionWarning[]): Draft[] {
    const fresh = next.filter((warning) => !warnings.some((known) => known.message === warning.message));
    warnings = next;
    return fresh.map(({ message, code }) => event(id, 'warning', { message, code }));
  }

  async function create(): Promise<void> {
    if (created) return;
    created = true;
    const firstLife = !log.state.status.agents.has(id);
    log.append([
      event(id, 'agent.created', {}, firstLife ? { kind: 'main' } : undefined),
      ...(firstLife
        ? [internal(id, 'agent.config', { permission: host.defaultPermission(), runtimeId: 'local' })]
        : []),
    ]);
    await log.flushed();
    frames.facts({ thinkingEffort: context().config.thinkingEffort });
  }

  /** Members of `agent.config` that a change touches. */
  function configOf(change: AgentChange): AgentConfigFields {
    const present = context().config;
    const fields: AgentConfigFields = {};
    const alias = change.model ?? bound();
    if (alias && (change.model !== undefined || change.thinking !== undefined)) {
      const model = host.resolveModel(alias);
      const effort = host.effort(model, change.thinking ?? present.thinkingEffort);
      if (alias !== present.model) fields.model = alias;
      if (effort !== present.thinkingEffort) fields.thinkingEffort = effort;
      const limit = contextLimit(model);
      if (limit !== (present.maxContextTokens ?? undefined)) fields.maxContextTokens = limit ?? null;
    }
    // Without a model the wish is kept for the one that comes.
    if (!alias && change.thinking !== undefined) fields.thinkingEffort = change.thinking;
    if (change.permission && change.permission !== permission()) fields.permission = change.permission;
    return fields;
  }

  /** Anthropic takes efforts that the model's record does not list; the user is told (engine.md §18.4). */
  function effortWarning({ model: alias = bound(), thinkingEffort: effort }: AgentConfigFields): Draft[] {
    if (alias === undefined || effort === undefined || effort === 'on' || effort === 'off') return [];
    const { protocol, supportEfforts } = host.resolveModel(alias);
    if (protocol !== 'anthropic' || supportEfforts.length === 0 || supportEfforts.includes(effort)) return [];
    const message = `Thinking effort "${effort}" is not among those that model "${alias}" lists: ${supportEfforts.join(', ')}.`;
    return [event(id, 'warning', { message, code: 'thinking-effort-not-listed' })];
  }

  async function change(wanted: AgentChange): Promise<void> {
    await create();
    const drafts: Draft[] = [];
    const bind = wanted.profile && context().bound === undefined ? wanted.profile : undefined;
    if (bind) drafts.push(internal(id, 'agent.bound', { profile: bind.name, tools: bind.tools }));
    const fields = configOf(wanted);
    if (Object.keys(fields).length > 0) drafts.push(internal(id, 'agent.config', fields));
    drafts.push(...effortWarning(fields));
    if (bind) drafts.push(...(await renderedPrompt('bound', true)));
    if (drafts.length === 0) return;
    log.append(drafts);
    await log.flushed();
    const { permission, thinkingEffort } = fields;
    frames.facts({
      ...(permission === undefined ? {} : { permission }),
      ...(thinkingEffort === undefined ? {} : { thinkingEffort }),
    });
  }

  async function refreshPrompt(cause: string): Promise<void> {
    const drafts = await renderedPrompt(cause, false);
    if (drafts.length === 0) return;
    log.append(drafts);
    await log.flushed();
  }

  async function freeze(): Promise<TurnModel> {
    const alias = bound();
    if (!alias) throw new EngineError('model.not_configured', 'No model is bound to this agent.');
    const model = host.resolveModel(alias);
    const effort = host.effort(model, context().config.thinkingEffort);
    const limit = contextLimit(model);
    if (limit !== maxContextTokens()) log.append([internal(id, 'agent.config', { maxContextTokens: limit ?? null })]);
    const instructions = await host.readInstructions();
    rendered ??= shows(instructions) ? { instructions: instructions.text, tools: toolNames() } : undefined;
    if (rendered?.instructions !== instructions.text) await refreshPrompt('instructions');
    else if (rendered.tools !== toolNames()) await refreshPrompt('tools');
    log.append([...warn(instructions.warnings), ...patternWarnings()]);
    await log.flushed();
    return { model, settings: host.settings(model, effort), system: context().system };
  }

  /** Instruction files that the system prompt already shows. */
  function shownInstructions(): string[] {
    return [...context().system.matchAll(/^<!-- From: (.+) -->$/gm)].map((match) => match[1] ?? '');
  }

  return {
    get created() {
      return created;
    },
    model: bound,
    permission,
    maxContextTokens,
    activeTools,
    warnings: () => warnings,
    create,
    change,
    refreshPrompt,
    freeze,
    shownInstructions,
  };
}
