/** Configuration of an agent: its binding, changes of it, and what a turn's requests use. */
import type { ResolvedModel, RequestSettings } from '#server/models/types.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import type { SessionWarning } from '#schema/rest/session.ts';
import type { CompleteDraft, Draft } from '#server/journal/records.ts';
import type { Profile } from './profile.ts';
import type { Caller } from '#schema/rest/caller.ts';

/** Model, settings and system prompt of a turn; read when the turn starts. */
export interface TurnModel {
  model: ResolvedModel;
  settings: RequestSettings;
  system: string;
}

export interface AgentConfig {
  /** Whether this process has recorded `agent.created` for the agent. */
  readonly created: boolean;
  model(): string | undefined;
  permission(): PermissionMode;
  maxContextTokens(): number | undefined;
  warnings(): SessionWarning[];
  /** Records `agent.created` in this process; features receive `change`, which follows. The session must be claimed. */
  create(change?: AgentChange): void;
  /** Applies a change; binds the agent if it is unbound and the change has a profile. */
  change(change: AgentChange): Promise<void>;
  /** Renders the system prompt again; returns its record if it changed, plus warnings. The record contains `cause`. */
  renderPrompt(cause: string): Promise<CompleteDraft[]>;
  /** The current model, settings and system prompt. */
  present(): Promise<TurnModel>;
  /** Refreshes the system prompt if its inputs have changed, then returns model, settings and prompt for the turn. */
  freeze(): Promise<TurnModel>;
  /** Paths of the instruction files that the system prompt contains. */
  shownInstructions(): Promise<string[]>;
}

/** Creation options of an agent that works for another one. */
export interface AgentBirth {
  purpose: 'task' | 'swarm' | 'btw';
  parentAgentId: string;
  /** Displayed next to its id. */
  label?: string | undefined;
  permission: PermissionMode;
  runtimeId: string | undefined;
  /** Further records of the creation, appended after `agent.created` and `agent.config` in the same journal line. */
  records?: (agentId: string) => Draft[];
}

/** A change of binding or mode; absent members stay unchanged. */
export interface AgentChange {
  profile?: Profile;
  model?: string;
  thinking?: string;
  permission?: PermissionMode;
  /** The client that requested the permission mode. */
  by?: Caller | undefined;
  runtimeId?: string;
}
