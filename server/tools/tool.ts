/** A tool is a plain object: a schema, a check of arguments, a preparation, a run. One file a tool. */
import { z } from 'zod';
import type { Display } from '#schema/display.ts';
import type { ToolOutput } from '#schema/engine.ts';
import type { StatusFacts } from '#schema/events/volatile.ts';
import type { ApprovalAnswer } from '#server/interactions/approvals.ts';
import type { Draft, JournalOnlyFields } from '#server/journal/records.ts';
import { oncePer } from '#server/once-per.ts';
import type { ServerHome } from '#server/permissions/server-home.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import type { Tasks } from '#server/tasks/tasks.ts';

/** How long a tool may take to end by itself after an abort, in ms. By then what it started must be gone or killed. */
export const ABORT_GRACE_MS = 2000;

/** What a call touches; decides which calls of a batch may run side by side and which paths permissions look at. */
export type Access =
  | {
      kind: 'file';
      path: string;
      /** Its links resolved, of whoever has done so and looks again when the call runs. */
      real?: string;
      mode: 'read' | 'write' | 'read-write';
      recursive?: boolean;
    }
  | { kind: 'all' }
  /** Nothing that another call could touch. */
  | { kind: 'none' };

export interface ToolProgress {
  kind: 'stdout' | 'stderr' | 'progress' | 'status' | 'custom';
  text?: string;
  percent?: number;
  customKind?: string;
  customData?: unknown;
  replace?: boolean;
}

/** The workspace as a tool sees it. All paths absolute. */
export interface ToolEnvironment {
  sessionId: string;
  agentId: string;
  /** The machine the workspace lies on: tools touch files and start processes through it alone. */
  runtime: Runtime;
  cwd: string;
  /** Further roots that count as the workspace, at this moment. */
  additionalDirs: () => Promise<readonly string[]>;
  /** Root folders of skills and plugins: readable without asking. */
  skillDirs: string[];
  /** The session's own folder: readable without asking. */
  sessionDir: string;
  /** Those of the sessions that it was copied from, which what was said names: readable without asking. */
  ancestorDirs?: readonly string[];
  /** The server's own folder: its secrets are no tool's business, its settings only with approval. */
  home: ServerHome;
  /** Names of the tools active for this agent right now. */
  activeTools: ReadonlySet<string>;
}

export interface RunContext extends ToolEnvironment {
  toolCallId: string;
  turnId: number;
  signal: AbortSignal;
  /** What of the session runs as a task. */
  tasks: Tasks;
  /** Of a call with a review; absent where nobody was asked. */
  answer?: ApprovalAnswer | undefined;
  /** A permission rule approved the command: git in it uses no bare repository that it finds by searching. */
  explicitGit?: boolean | undefined;
  progress(update: ToolProgress): void;
  /**
   * Records of the call's end with this result, for who appends them together with what ended it; `run` then returns
   * the same result. At once and without a spill to a file, so the output must be short.
   */
  finish(result: ToolResult): Draft[];
}

export interface ToolResult {
  output: ToolOutput;
  isError?: boolean;
  /** `<system>…</system>` text for the model only. */
  note?: string;
  /** Already cut by the output builder: no spill to a file. */
  truncated?: boolean;
  /** Ends the turn after this batch. */
  stopTurn?: boolean;
  /** Files read or written now, for the stale-file guard. */
  files?: { path: string; mtimeMs: number }[];
  /** What else the journal keeps beside the result. */
  x?: JournalOnlyFields['tool.result'];
  /** Records in front of the result's, on the same line. */
  records?: Draft[];
  /** Facts of the agent that have changed with it, which clients are told behind it. */
  facts?: StatusFacts;
}

/** An error result. */
export const failed = (output: string): ToolResult => ({ output, isError: true });

/** How permission rules see a call. */
export interface RuleSubject {
  /** Text the rule's argument is matched against; absent = the tool has no subject. */
  text?: string;
  match: 'path' | 'glob' | 'command' | 'literal';
  /** Absolute directory that a command runs in; the session's unless given. */
  directory?: string;
}

/**
 * What a call of the tool needs when no rule says otherwise. `free`: nothing. `read`: nothing in the workspace.
 * `write`: nothing in a workspace under git. `ask`: somebody's approval, as for a tool that does not say.
 */
export type ToolPermission = 'free' | 'read' | 'write' | 'ask';

/**
 * What the calls of a tool may change beyond the conversation's own state. `none`: nothing. `workspace`: files, each of
 * which the call declares in its accesses. `outside`: something that no access declares, such as a task or a schedule.
 * `any`: it depends on the call, and the permission chain decides. Plan mode goes by it.
 */
export type ToolEffects = 'none' | 'workspace' | 'outside' | 'any';

/** What resolving the arguments yields, before anything runs. */
export interface PreparedCall {
  accesses: Access[];
  /** Label for people: `description` of the event, `action` of the approval; the tool's name unless given. */
  label?: string;
  display?: Display;
  subject: RuleSubject;
  review?: Review;
  /** Later calls of the response are not run. */
  stopsBatch?: boolean;
  run(context: RunContext): Promise<ToolResult>;
}

/**
 * The call is a question to people: its approval is asked whatever rules and modes allow, but in auto mode, and it runs
 * with the answer, whatever that is.
 */
export interface Review {
  /** Records in front of the request; in auto mode in front of the call. */
  records?(): Promise<Draft[]>;
}

/** Settles the call as an error result before permissions are asked. */
export class ToolInputError extends Error {
  override readonly name = 'ToolInputError';
}

/** Arguments that fit the tool. */
export interface CheckedCall {
  /** As parsed: defaults filled in. */
  args: unknown;
  /** Throws `ToolInputError` for what can be said before running: path policy, missing workspace directories. */
  prepare(environment: ToolEnvironment): Promise<PreparedCall> | PreparedCall;
}

/** A tool as the core sees it, built in or not. */
export interface Tool {
  readonly name: string;
  /** As the model is told it. */
  readonly description: string;
  readonly permission?: ToolPermission | undefined;
  readonly effects: ToolEffects;
  /** It starts agents or waits for a person: disallowed for every agent that works for another one. */
  readonly mainOnly?: boolean | undefined;
  /** JSON Schema, draft 2020-12. */
  readonly parameters: Record<string, unknown>;
  /** Not listed to a model that has an active loader: it loads the schema into its conversation first. */
  readonly deferred?: boolean;
  /**
   * It loads deferred tools. No profile names it: it is active while it is `on`, unless the configuration or the session
   * takes it away.
   */
  readonly loader?: 'on' | 'off';
  /** Validates arguments; all problems are joined with `; `, each with the path of its field. */
  check(args: unknown): CheckedCall | { problem: string };
}

/** A tool of ours: its schema is written with zod. */
export interface ToolDefinition<Schema extends z.ZodType> {
  name: string;
  /** As the model is told it; limits are named constants shared with the code. */
  description: string;
  permission: ToolPermission;
  effects: ToolEffects;
  /** As `Tool.mainOnly`. Default: false. */
  mainOnly?: boolean;
  parameters: Schema;
  /** What models are told of them, where that is less than what is taken. */
  toldParameters?: z.ZodType;
  /** Throws `ToolInputError`. */
  prepare(args: z.output<Schema>, environment: ToolEnvironment): Promise<PreparedCall> | PreparedCall;
}

/** The tool of a definition; its JSON Schema is made when it is first asked for. */
export function defineTool<Schema extends z.ZodType>(definition: ToolDefinition<Schema>): Tool {
  const { name, description, permission, effects, mainOnly, toldParameters = definition.parameters } = definition;
  return {
    name,
    description,
    permission,
    effects,
    mainOnly,
    get parameters() {
      return jsonSchema(toldParameters);
    },
    check(raw) {
      const parsed = definition.parameters.safeParse(raw);
      if (!parsed.success) return { problem: problems(parsed.error) };
      const args = parsed.data;
      return { args, prepare: (environment) => definition.prepare(args, environment) };
    },
  };
}

/** Sessions make tools of their own, with the schemas of all. */
const jsonSchema = oncePer((parameters: z.ZodType): Record<string, unknown> => {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(parameters, {
    target: 'draft-2020-12',
    io: 'input',
    // zod bounds every integer by what a double can hold; that tells a model nothing.
    override({ jsonSchema: made }) {
      if (made.maximum === Number.MAX_SAFE_INTEGER) delete made.maximum;
      if (made.minimum === Number.MIN_SAFE_INTEGER) delete made.minimum;
    },
  });
  return schema;
});

const problems = ({ issues }: z.ZodError) =>
  issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message)).join('; ');
