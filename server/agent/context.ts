/** The seam between an agent and the session and program around it. */
import type { SessionLog } from '#server/journal/session-log.ts';
import type { ModelRequest, ModelResponse, RequestSettings, ResolvedModel, StreamPart } from '#server/models/types.ts';
import type { Decision } from '#server/permissions/policy.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import type { Approvals } from './approvals.ts';
import type { WorkState } from './work-state.ts';
import type { Tool, ToolEnvironment, PreparedCall } from '#server/tools/tool.ts';
import type { Touched } from './calls/nested-instructions.ts';
import type { Instructions } from './prompt/instructions.ts';
import type { Profile } from './profile.ts';

/** What an agent needs from the session and the program around it. */
export interface AgentContext {
  id: string;
  log: SessionLog;
  work: WorkState;
  approvals: Approvals;
  tools: readonly Tool[];
  now(): number;
  environment(): ToolEnvironment;
  defaultPermission(): PermissionMode;
  /** Throws what makes the alias unusable. */
  resolveModel(alias: string): ResolvedModel;
  /** Effort that a wish (or none) becomes on this model. */
  effort(model: ResolvedModel, wanted: string | undefined): string;
  settings(model: ResolvedModel, effort: string): RequestSettings;
  /** Completion cap in tokens when this many are already used. */
  budget(model: ResolvedModel, used: number): number | undefined;
  limits(): { maxSteps: number; maxAttempts: number };
  readInstructions(): Promise<Instructions>;
  /** Instruction files near what a call touched that `known` does not hold. */
  nestedInstructions(touched: Touched, known: ReadonlySet<string>): Promise<string[]>;
  renderPrompt(instructions: Instructions): Promise<string>;
  /** Entries of the configured and the session's tool lists that fit no tool (engine.md §6.5). */
  ineffectiveToolPatterns(): string[];
  decide(tool: string, plan: PreparedCall, mode: PermissionMode): Promise<Decision>;
  stream(request: ModelRequest, onPart: (part: StreamPart) => void): Promise<ModelResponse>;
  /** A turn has ended or a prompt was accepted: the session's cold view changed. */
  viewChanged(): void;
  /** Logs what no client can be told. */
  report(what: string, error: unknown): void;
}

/** A change of binding or mode; absent members stay (turns.md §2.1, core.md §6.4). */
export interface AgentChange {
  profile?: Profile;
  model?: string;
  thinking?: string;
  permission?: PermissionMode;
}
