/** An agent and the roster of a session, as the scheduler, features and sessions use them. */
import type { TurnOutcome, PermissionMode } from '#schema/scalars.ts';
import type { ErrorPayload } from '#schema/engine.ts';
import type { AgentContext, TurnRequest } from './context.ts';
import type { PromptQueue, QueuedPrompt } from './prompts.ts';
import type { Draft } from '#server/journal/records.ts';
import type { Prompt } from '#schema/rest/prompt.ts';
import type { TurnAborted } from './errors.ts';
import type { Tool } from '#server/tools/tool.ts';
import type { InFlightTurn } from '#schema/rest/message.ts';
import type { VolatileEvent } from '#server/journal/log-listeners.ts';
import type { AgentBirth } from './config.ts';
import type { Caller } from '#schema/rest/caller.ts';

/** Outcome of a turn. */
export interface TurnEnd {
  outcome: TurnOutcome;
  /** Present if the turn failed. */
  error?: ErrorPayload;
  /** The last answer reached the model's limit. */
  truncated?: true;
}

export interface Agent {
  readonly id: string;
  readonly context: AgentContext;
  readonly queue: PromptQueue;
  /** Accepts a prompt: starts its turn or queues it. `head` precedes the prompt's records in the same journal line. */
  submit(prompt: QueuedPrompt, head: Draft[]): Prompt;
  /** Resolves with the prompt's status after features have processed it; undefined unless the prompt is starting. */
  starting(promptId: string): Promise<Prompt['status']> | undefined;
  prompts(): Promise<{ active: Prompt | null; queued: Prompt[] }>;
  /** Throws `prompt.not_found`, `prompt.already_completed`, `persistence.failure`. */
  abortPrompt(id: string): void;
  /** Moves waiting prompts into the running turn, all or none. Throws `prompt.not_found`, `persistence.failure`. */
  steer(ids: readonly string[]): void;
  /** Cancels the running turn or the operation that it waits for, if any. Default reason: interrupted by the user. */
  cancelTurn(reason?: TurnAborted): void;
  /** Whether the running turn was cancelled and has not ended yet. */
  readonly cancelling: boolean;
  /**
   * Runs a separate turn after the running and waiting ones; returns its outcome. The signal cancels only this turn;
   * its reason is a `TurnAborted`. The session must be claimed. Throws `session.busy` while closing,
   * `persistence.failure`.
   */
  runTurn(request: TurnRequest, signal: AbortSignal): Promise<TurnEnd>;
  /**
   * Runs `work` while no turn may start; requests to the agent wait. `cancelTurn` aborts its signal. Resolves when
   * `work` settles; undefined if a turn runs or a prompt waits.
   */
  exclusively(work: (signal: AbortSignal) => Promise<void>): Promise<void> | undefined;
  /** All registered tools and whether the tool policy allows them; all are active while no profile is bound. */
  tools(): { tool: Tool; active: boolean }[];
  inFlight(): InFlightTurn | null;
  /** Published volatile events that no record contains yet, in order. */
  unrecorded(): VolatileEvent[];
  idle(): boolean;
  /** Cancels the turn and drops the queue; returns the agent's final records, for the journal's last line. */
  close(reason: 'closed' | 'archived' | 'evicted', message: string): Promise<Draft[]>;
}

export interface Roster {
  readonly main: Agent;
  /** Agents in memory: main, then in order of creation. */
  all(): Agent[];
  /** The agent, if it is in memory. */
  find(id: string): Agent | undefined;
  /** Whether the session has an agent with this id, in memory or not. */
  has(id: string): boolean;
  /**
   * Keeps the agent in memory until `work` settles; restores it from the journal if necessary. Throws
   * `session.not_found` for an agent that the session does not have.
   */
  use<T>(id: string, work: (agent: Agent) => T | Promise<T>): Promise<T>;
  /** A new agent, kept in memory until `work` settles. The session must be claimed. Throws `persistence.failure`. */
  create<T>(birth: AgentBirth, work: (agent: Agent) => T | Promise<T>): Promise<T>;
  /** Sets the mode of all agents used in this process. The session must be claimed. Throws `persistence.failure`. */
  setPermission(mode: PermissionMode, by?: Caller): Promise<void>;
  /**
   * Binds the agents used in this process that have the first model to the second, from their next turn. The session
   * must be claimed. Throws `persistence.failure`.
   */
  replaceModel(from: string, to: string): Promise<void>;
  /**
   * Aborts a prompt of the agent that has it; default: main. Throws `prompt.not_found`, `prompt.already_completed`,
   * `persistence.failure`.
   */
  abortPrompt(promptId: string): void;
  /** Steers prompts of the agent that has all of them. Throws `prompt.not_found`, `persistence.failure`. */
  steer(promptIds: readonly string[]): void;
  /** Whether no turn runs and no prompt waits. */
  idle(): boolean;
  /** Cancels every running turn. */
  cancelTurns(): void;
  /** Closes all agents; returns their final records, main's first, for the journal's last line. */
  close(reason: 'closed' | 'archived' | 'evicted', message: string): Promise<Draft[]>;
}
