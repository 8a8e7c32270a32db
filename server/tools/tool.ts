/**
 * Contract of a tool: a plain object with a schema, a check of arguments, a preparation and a run. One file per tool.
 */
import * as z from 'zod';
import type { Display } from '#schema/rest/display.ts';
import type { ToolOutput } from '#schema/engine.ts';
import type { StatusFields } from '#schema/events/volatile.ts';
import type { ApprovalAnswer } from '#server/interactions/approvals.ts';
import type { Draft, JournalOnlyFields } from '#server/journal/records.ts';
import { memoizeByObject } from '#server/memo/by-object.ts';
import type { ServerHome } from '#server/home/server-home.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import type { Tasks } from '#server/tasks/tasks.ts';

/** Grace time after an abort, in ms; when it is over, what the tool started must have exited or been killed. */
export const ABORT_GRACE_MS = 2000;

/** Resources that a call touches: decides which calls of a batch run concurrently and which paths permissions check. */
export type Access =
  | {
      kind: 'file';
      path: string;
      /** The path with its links resolved; set by a tool that resolves it again when the call runs. */
      real?: string;
      mode: 'read' | 'write' | 'read-write';
      recursive?: boolean;
    }
  | { kind: 'all' }
  /** No resource that another call could touch. */
  | { kind: 'none' };

export interface ToolProgress {
  kind: 'stdout' | 'stderr' | 'progress' | 'status' | 'custom';
  text?: string;
  percent?: number;
  customKind?: string;
  customData?: unknown;
  replace?: boolean;
}

/** The workspace as a tool sees it. All paths are absolute. */
export interface ToolEnvironment {
  sessionId: string;
  agentId: string;
  /** The machine of the workspace: tools access files and start processes only through it. */
  runtime: Runtime;
  cwd: string;
  /** Current additional roots that are treated as the workspace. */
  additionalDirs: () => Promise<readonly string[]>;
  /** Folders and files of skills and plugins: readable without approval. */
  readableDirs: () => Promise<readonly string[]>;
  /** The session's data folder: readable without approval. */
  sessionDir: string;
  /** Folders of the sessions it was copied from, to which its history may refer: readable without approval. */
  ancestorDirs?: readonly string[];
  /** The server's home: its secrets are inaccessible to tools, its settings need approval. */
  home: ServerHome;
  /** Names of the tools that are currently active for this agent. */
  activeTools: ReadonlySet<string>;
}

export interface RunContext extends ToolEnvironment {
  toolCallId: string;
  turnId: number;
  signal: AbortSignal;
  /** Tasks of the session. */
  tasks: Tasks;
  /** Answer to a call with a review; undefined if no approval was requested. */
  answer?: ApprovalAnswer | undefined;
  /** A permission rule approved the command: git in it must not use a bare repository that it finds by searching. */
  explicitGit?: boolean | undefined;
  progress(update: ToolProgress): void;
  /**
   * Returns the records of the call's end with this result, for a caller that appends them with the cause of the end;
   * `run` must then return the same result. Synchronous and without a spill to a file, so the output must be short.
   */
  finish(result: ToolResult): Draft[];
}

export interface ToolResult {
  output: ToolOutput;
  isError?: boolean;
  /** `<system>…</system>` text, only for the model. */
  note?: string;
  /** Already truncated by the output builder: no spill to a file. */
  truncated?: boolean;
  /** Stops the turn after this batch. */
  stopTurn?: boolean;
  /** Files that were read or written now, for the stale-file guard. */
  files?: { path: string; mtimeMs: number }[];
  /** Fields that are journaled in addition to the result. */
  x?: JournalOnlyFields['tool.result'];
  /** Records before the result in the same journal line. */
  records?: Draft[];
  /** Facts of the agent that have changed; published after the result. */
  facts?: StatusFields;
}

/** Creates an error result. */
export const failed = (output: string): ToolResult => ({ output, isError: true });

/** A call as permission rules see it. */
export interface RuleSubject {
  /** Text that the rule's argument is matched against; undefined if the tool has no subject. */
  text?: string;
  match: 'path' | 'glob' | 'command' | 'literal';
  /** Absolute directory that a command runs in; default: the session's. */
  directory?: string;
}

/**
 * Requirement of a tool's calls if no rule applies. `free`: none. `read`: no approval in the workspace. `write`: no
 * approval in a workspace under git. `ask`: an approval, which is the default.
 */
export type ToolPermission = 'free' | 'read' | 'write' | 'ask';

/**
 * State that a tool's calls may change beyond that of the conversation. `none`: no other state. `workspace`: files,
 * each of which the call declares in its accesses. `outside`: state that no access declares, such as a task or a
 * schedule. `any`: it depends on the call, and the permission chain decides. Plan mode decides by it.
 */
export type ToolEffects = 'none' | 'workspace' | 'outside' | 'any';

/** A call after its arguments were resolved, before it runs. */
export interface PreparedCall {
  accesses: Access[];
  /** Label for people: `description` of the event, `action` of the approval; default: the tool's name. */
  label?: string;
  display?: Display;
  subject: RuleSubject;
  review?: Review;
  /** Whether later calls of the response are not run. */
  stopsBatch?: boolean;
  run(context: RunContext): Promise<ToolResult>;
}

/**
 * Marks a call that is a question to the user: its approval is requested regardless of rules and modes, except in auto
 * mode, and the call runs with any answer.
 */
export interface Review {
  /** Records before the approval request; in auto mode before the call. */
  records?(): Promise<Draft[]>;
}

/** Settles the call as an error result before permissions are checked. */
export class ToolInputError extends Error {
  override readonly name = 'ToolInputError';
}

/** Arguments that the tool accepts. */
export interface CheckedCall {
  /** The parsed arguments, with defaults filled in. */
  args: unknown;
  /** Throws `ToolInputError` for problems that exist before running: path policy, missing workspace directories. */
  prepare(environment: ToolEnvironment): Promise<PreparedCall> | PreparedCall;
}

/** A tool as the core sees it, built in or not. */
export interface Tool {
  readonly name: string;
  /** Text that the model receives. */
  readonly description: string;
  readonly permission?: ToolPermission | undefined;
  readonly effects: ToolEffects;
  /** Starts agents or waits for a person, so it is disallowed for every agent that works for another one. */
  readonly mainOnly?: boolean | undefined;
  /** JSON Schema, draft 2020-12. */
  readonly parameters: Record<string, unknown>;
  /** Omitted from the list of a model with an active loader, which loads the schema into its conversation first. */
  readonly deferred?: boolean;
  /**
   * Loads deferred tools. No profile names it: it is active while it is `on`, unless the configuration or the session
   * disables it.
   */
  readonly loader?: 'on' | 'off';
  /** Validates arguments; joins all problems with `; `, each with the path of its field. */
  check(args: unknown): CheckedCall | { problem: string };
}

/** A tool whose schema is written with zod. */
export interface ToolDefinition<Schema extends z.ZodType> {
  name: string;
  /** Text that the model receives; its limits are named constants shared with the code. */
  description: string;
  permission: ToolPermission;
  effects: ToolEffects;
  /** See `Tool.mainOnly`. Default: false. */
  mainOnly?: boolean;
  parameters: Schema;
  /** Parameters that models receive; default: `parameters`, which may accept more. */
  offeredParameters?: z.ZodType;
  /** Throws `ToolInputError`. */
  prepare(args: z.output<Schema>, environment: ToolEnvironment): Promise<PreparedCall> | PreparedCall;
}

/** Creates the tool of a definition; its JSON Schema is generated on first use. */
export function defineTool<Schema extends z.ZodType>(definition: ToolDefinition<Schema>): Tool {
  const { name, description, permission, effects, mainOnly, offeredParameters = definition.parameters } = definition;
  return {
    name,
    description,
    permission,
    effects,
    mainOnly,
    get parameters() {
      return jsonSchema(offeredParameters);
    },
    check(raw) {
      const parsed = definition.parameters.safeParse(raw);
      if (!parsed.success) return { problem: problems(parsed.error) };
      const args = parsed.data;
      return { args, prepare: (environment) => definition.prepare(args, environment) };
    },
  };
}

/** Memoized by schema: sessions create their own tools, with schemas that all share. */
const jsonSchema = memoizeByObject((parameters: z.ZodType): Record<string, unknown> => {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(parameters, {
    target: 'draft-2020-12',
    io: 'input',
    // zod bounds every integer by the range of a double, which is useless to a model.
    override({ jsonSchema: made }) {
      if (made.maximum === Number.MAX_SAFE_INTEGER) delete made.maximum;
      if (made.minimum === Number.MIN_SAFE_INTEGER) delete made.minimum;
    },
  });
  return schema;
});

const problems = ({ issues }: z.ZodError) =>
  issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message)).join('; ');
