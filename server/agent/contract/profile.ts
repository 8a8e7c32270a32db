/** Agent profiles and their catalog. */
import type { TaskContext } from '../prompt/git-context.ts';
import type { SessionWarning } from '#schema/rest/session.ts';

export interface Profile {
  readonly name: string;
  /** Purpose of the profile, listed where one is chosen. */
  readonly description: string;
  /** Tools it may use, MCP tools by glob; `*` for every tool. */
  readonly tools: readonly string[] | '*';
  readonly disallowedTools?: readonly string[];
  /** Profiles that it may start as subagents; `*` for any. Default: none. */
  readonly subagents?: readonly string[] | '*';
  /** Loaded from an agent file, not built in: the main agent may start it although its profile does not list it. */
  readonly discovered?: true;
  /** Role text in the system prompt, instead of the main agent's. */
  readonly role?: string;
  /** Template of the whole system prompt, instead of the default one. */
  readonly template?: string;
  /** Requirement for the last answer of a run: a shorter one is requested again, up to `retries` times. */
  readonly summary?: { readonly minChars: number; readonly retries: number };
  /** Text before the task of a run; empty for none. */
  readonly taskContext?: (place: TaskContext) => Promise<string>;
}

/** Profiles by name, in listing order. */
export type Profiles = ReadonlyMap<string, Profile>;

/** A folder of agent files, or the built-in profiles (`builtin`). */
export interface ProfileSource {
  id: string;
  /** Among profiles with one name the highest priority wins. */
  priority: number;
  /** Names of its profiles, also of those that another source replaces. */
  profiles: readonly string[];
}

export interface Catalog {
  profiles: Profiles;
  /** Only sources that have profiles. */
  sources: readonly ProfileSource[];
  /** One for each broken or ignored file: the same object while the file is unchanged. */
  warnings: readonly SessionWarning[];
}
