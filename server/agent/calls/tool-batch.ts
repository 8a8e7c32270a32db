/**
 * The calls of one response, from preflight to results (engine.md §4). Read `runToolBatch` top to bottom: every call is
 * prepared and decided in call order; only when all are decided do they run, side by side where their accesses allow.
 */
import { join } from 'node:path';
import { errorMessage } from '#server/errors/service-error.ts';
import { event, type Draft } from '#server/journal/records.ts';
import type { ToolCall, ToolOutput } from '#schema/engine.ts';
import type { ApprovalAnswer, Approvals } from '../approvals.ts';
import { validateArguments } from './arguments.ts';
import { accessesConflict } from './resource-access.ts';
import { spillOutput } from './spill.ts';
import { checkFresh } from './stale-files.ts';
import { ABORT_GRACE_MS } from '#server/tools/tool.ts';
import type { Tool, ToolEnvironment, PreparedCall, ToolProgress, ToolResult } from '#server/tools/tool.ts';
import type { Decision } from '#server/permissions/policy.ts';
import { callKey, type RepeatGuard, type RepeatVerdict } from './repeat-guard.ts';
import { TurnAborted } from '../errors.ts';

/** A process that was killed at the end of the grace time needs a moment to be gone; its tool is waited for that long. */
const KILLED_WAIT_MS = 500;
const EMPTY_OUTPUT = 'The tool finished without output.';
const MEDIA_OUTPUT = 'The tool gave this:';
const ABORTED_BY_USER =
  'Interrupted by user. This was a deliberate decision of the user; do not run it again unless asked to.';
const ABORTED = 'Aborted: the server stopped this call.';

export interface ToolBatchDeps {
  agentId: string;
  turnId: number;
  signal: AbortSignal;
  tools: ReadonlyMap<string, Tool>;
  environment: ToolEnvironment;
  append(drafts: Draft[]): void;
  progress(toolCallId: string, update: ToolProgress): void;
  decide(tool: string, plan: PreparedCall): Promise<Decision>;
  approvals: Approvals;
  /** Files this agent has read or written, with their modification times (stale-file guard). */
  knownFiles(): ReadonlyMap<string, number>;
  repeats: RepeatGuard;
  /** Instruction files to name to the model after a successful call. */
  nestedInstructions(plan: PreparedCall, args: unknown): Promise<string[]>;
  /** Logs what no client can be told. */
  report(what: string, error: unknown): void;
  /** Told when a call starts, waits for approval and ends, for status frames and the snapshot. */
  observe: {
    waiting(approval: { approvalId: string; toolCallId: string } | undefined): void;
    started(call: { toolCallId: string; name: string; args: unknown; plan?: PreparedCall | undefined }): void;
    ended(toolCallId: string): void;
  };
}

interface Admitted {
  call: ToolCall;
  plan: PreparedCall;
  args: unknown;
  key: string;
  repeat: RepeatVerdict;
  /** Later calls that are the same and take this one's result. */
  duplicates: ToolCall[];
}

/** The calls of the response as far as they are decided. */
interface Decided {
  admitted: Admitted[];
  /** By key: an equal call later in the response gets the same refusal, nobody is asked twice. */
  refused: Map<string, { plan: PreparedCall | undefined; text: string }>;
  /** A refused call was repeated too often. */
  stopTurn: boolean;
}

export interface BatchOutcome {
  /** A result asked to end the turn. */
  stopTurn: boolean;
}

/** Runs the batch; rejects with the signal's reason when the turn is aborted, after every started call has its result. */
export async function runToolBatch(calls: ToolCall[], deps: ToolBatchDeps): Promise<BatchOutcome> {
  const decided: Decided = { admitted: [], refused: new Map(), stopTurn: false };
  const { admitted } = decided;
  try {
    for (const call of calls) await admit(call, decided, deps);
  } catch (error) {
    // Calls that were admitted but never began: clients have seen them start.
    for (const entry of admitted) finish(entry, { output: abortText(deps.signal), isError: true }, deps);
    throw error;
  }
  const running: Promise<boolean>[] = [];
  admitted.forEach((entry, index) => {
    const before = running.filter((_, earlier) => conflict(admitted[earlier], entry));
    running[index] = Promise.allSettled(before).then(() => run(entry, deps));
  });
  const stops = await Promise.all(running);
  deps.signal.throwIfAborted();
  return { stopTurn: decided.stopTurn || stops.includes(true) };
}

const conflict = (a: Admitted | undefined, b: Admitted) =>
  a !== undefined && accessesConflict(a.plan.accesses, b.plan.accesses);

/** Preflight, plan and permission of one call. Settles it at once when one of them fails. */
async function admit(call: ToolCall, decided: Decided, deps: ToolBatchDeps): Promise<void> {
  deps.signal.throwIfAborted();
  const checked = preflight(call, deps);
  const { args } = checked;
  const key = callKey(call.name, args);
  const first = decided.admitted.find((entry) => entry.key === key);
  if (first) {
    start(call, args, first.plan, deps);
    first.duplicates.push(call);
    return;
  }
  const before = decided.refused.get(key);
  if (before) {
    settle(call, args, before.plan, before.text, deps);
    return;
  }
  const repeat = deps.repeats.count(key);
  const refuse = (plan: PreparedCall | undefined, problem: string) => {
    const text = problem + (repeat.reminder ? reminderBlock(repeat.reminder) : '');
    decided.refused.set(key, { plan, text });
    decided.stopTurn ||= repeat.stopTurn;
    settle(call, args, plan, text, deps);
  };
  if ('error' in checked) {
    refuse(undefined, checked.error);
    return;
  }
  const plan = await planCall(checked.tool, args, deps.environment);
  deps.signal.throwIfAborted();
  if ('error' in plan) {
    refuse(undefined, plan.error);
    return;
  }
  const refusal = (await staleFile(plan, decided.admitted, deps)) ?? (await permission(call, plan, args, deps));
  deps.signal.throwIfAborted();
  if (refusal !== undefined) {
    refuse(plan, refusal);
    return;
  }
  start(call, args, plan, deps);
  decided.admitted.push({ call, plan, args, key, repeat, duplicates: [] });
}

/** The tool exists, is active and takes these arguments. */
function preflight(
  call: ToolCall,
  deps: ToolBatchDeps,
): { tool: Tool; args: unknown } | { args: unknown; error: string } {
  const tool = deps.tools.get(call.name);
  if (!tool || !deps.environment.activeTools.has(call.name)) {
    const reason = tool ? 'is disabled in this session' : 'does not exist';
    const names = [...deps.environment.activeTools].join(', ');
    return {
      args: rawArguments(call),
      error: `The tool "${call.name}" ${reason}. Available tools: ${names || 'none'}.`,
    };
  }
  const checked = validateArguments(tool, call.arguments);
  if ('args' in checked) return { tool, args: checked.args };
  return { args: rawArguments(call), error: `Invalid arguments for ${call.name}: ${checked.error}` };
}

/** What the tool would do; a tool that fails already here fails this call only. */
async function planCall(
  tool: Tool,
  args: unknown,
  environment: ToolEnvironment,
): Promise<PreparedCall | { error: string }> {
  try {
    return await tool.prepare(args, environment);
  } catch (error) {
    return { error: errorMessage(error) || 'The tool failed.' };
  }
}

/** What the model wrote, as clients are shown it: parsed where it can be. */
function rawArguments(call: ToolCall): unknown {
  try {
    return JSON.parse(call.arguments || '{}') as unknown;
  } catch {
    // Not JSON: shown as it was written.
    return call.arguments;
  }
}

const writes = (plan: PreparedCall) =>
  plan.accesses.flatMap((access) => (access.kind === 'file' && access.mode !== 'read' ? [access.path] : []));

/** The stale-file guard; a Read of the same file earlier in this response counts (engine.md §4). */
async function staleFile(plan: PreparedCall, admitted: Admitted[], deps: ToolBatchDeps): Promise<string | undefined> {
  for (const path of writes(plan)) {
    // A search (recursive) shows only parts of a file.
    const readBefore = admitted.some((entry) =>
      entry.plan.accesses.some((access) => access.kind === 'file' && !access.recursive && access.path === path),
    );
    if (readBefore) continue;
    const problem = await checkFresh(deps.knownFiles(), path, deps.environment.runtime);
    if (problem) return problem;
  }
  return undefined;
}

/** Asks where the policy says so. Returns the refusal's text, or undefined when the call may run. */
async function permission(
  call: ToolCall,
  plan: PreparedCall,
  args: unknown,
  deps: ToolBatchDeps,
): Promise<string | undefined> {
  let decision: Decision;
  try {
    decision = await deps.decide(call.name, plan);
  } catch (error) {
    // A path that cannot be followed (a cycle of links, an unreadable folder) is not approved.
    return `Permission could not be decided, so the call was not run: ${errorMessage(error)}`;
  }
  if (decision.kind === 'approve') return undefined;
  if (decision.kind === 'deny') {
    return `The call was denied by the permission rules.${decision.reason ? ` Reason: ${decision.reason}` : ''}`;
  }
  const { id, answer } = deps.approvals.ask(
    {
      agentId: deps.agentId,
      turnId: deps.turnId,
      toolCallId: call.id,
      toolName: call.name,
      action: plan.label,
      display: plan.display ?? { kind: 'generic', summary: plan.label, detail: args },
      toolInput: args,
      rule: decision.rule,
    },
    deps.signal,
  );
  deps.observe.waiting({ approvalId: id, toolCallId: call.id });
  const given = await answer;
  deps.observe.waiting(undefined);
  return given.decision === 'approved' ? undefined : refusalText(given);
}

function refusalText(answer: ApprovalAnswer): string {
  const what =
    answer.decision === 'rejected'
      ? 'The user rejected this call; it was not run.'
      : 'The approval of this call was cancelled; it was not run.';
  return answer.feedback ? `${what} Reason: ${answer.feedback}` : what;
}

const startedEvent = (call: ToolCall, args: unknown, plan: PreparedCall | undefined, deps: ToolBatchDeps) =>
  event(deps.agentId, 'tool.call.started', {
    turnId: deps.turnId,
    toolCallId: call.id,
    name: call.name,
    args,
    ...(plan ? { description: plan.label } : {}),
    ...(plan?.display ? { display: plan.display } : {}),
  });

function start(call: ToolCall, args: unknown, plan: PreparedCall, deps: ToolBatchDeps): void {
  deps.append([startedEvent(call, args, plan, deps)]);
  deps.observe.started({ toolCallId: call.id, name: call.name, args, plan });
}

const resultEvent = (toolCallId: string, result: ToolResult, deps: ToolBatchDeps, agentsMd: string[] = []) => {
  const extras = {
    ...(result.note ? { note: result.note } : {}),
    ...(result.files?.length ? { files: result.files } : {}),
    ...(agentsMd.length > 0 ? { agentsMd } : {}),
  };
  return event(
    deps.agentId,
    'tool.result',
    {
      turnId: deps.turnId,
      toolCallId,
      output: result.output,
      ...(result.isError ? { isError: true as const } : {}),
    },
    Object.keys(extras).length > 0 ? extras : undefined,
  );
};

/** A call that will not run: its start and its error, on one line. */
function settle(
  call: ToolCall,
  args: unknown,
  plan: PreparedCall | undefined,
  text: string,
  deps: ToolBatchDeps,
): void {
  deps.append([startedEvent(call, args, plan, deps), resultEvent(call.id, { output: text, isError: true }, deps)]);
}

async function run(entry: Admitted, deps: ToolBatchDeps): Promise<boolean> {
  let result = await execute(entry, deps);
  if (entry.repeat.reminder && !deps.signal.aborted) result = withReminder(result, entry.repeat.reminder);
  const agentsMd = result.isError ? [] : await deps.nestedInstructions(entry.plan, entry.args);
  finish(entry, result, deps, agentsMd);
  return result.stopTurn === true || entry.repeat.stopTurn;
}

function finish(entry: Admitted, result: ToolResult, deps: ToolBatchDeps, agentsMd: string[] = []): void {
  const { files: _files, ...copy } = result;
  deps.append([
    resultEvent(entry.call.id, result, deps, agentsMd),
    ...entry.duplicates.map((call) => resultEvent(call.id, copy, deps)),
  ]);
  for (const call of [entry.call, ...entry.duplicates]) deps.observe.ended(call.id);
}

async function execute(entry: Admitted, deps: ToolBatchDeps): Promise<ToolResult> {
  const { call, plan } = entry;
  const stale = await firstProblem(
    writes(plan).map((path) => checkFresh(deps.knownFiles(), path, deps.environment.runtime)),
  );
  if (stale) return { output: stale, isError: true };
  if (deps.signal.aborted) return { output: abortText(deps.signal), isError: true };
  let live = true;
  const context = {
    ...deps.environment,
    toolCallId: call.id,
    turnId: deps.turnId,
    signal: deps.signal,
    progress: (update: ToolProgress) => {
      if (live && !deps.signal.aborted) deps.progress(call.id, update);
    },
  };
  try {
    const result = await withGrace(plan.run(context), deps.signal);
    return await normalize(call, result, deps);
  } catch (error) {
    return { output: errorMessage(error) || 'The tool failed.', isError: true };
  } finally {
    live = false;
  }
}

async function firstProblem(checks: Promise<string | undefined>[]): Promise<string | undefined> {
  return (await Promise.all(checks)).find((problem) => problem !== undefined);
}

/** After an abort the tool may end by itself for a while; then a synthetic result stands in for it. */
function withGrace(running: Promise<ToolResult>, signal: AbortSignal): Promise<ToolResult> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const onAbort = () => {
      timer = setTimeout(() => resolve({ output: abortText(signal), isError: true }), ABORT_GRACE_MS + KILLED_WAIT_MS);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    running.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    });
  });
}

const abortText = (signal: AbortSignal) =>
  signal.reason instanceof TurnAborted && signal.reason.by === 'user' ? ABORTED_BY_USER : ABORTED;

/** Empty output becomes a sentence, media get a text in front, long output goes to a file (engine.md §4 items 8 and 9). */
async function normalize(call: ToolCall, result: ToolResult, deps: ToolBatchDeps): Promise<ToolResult> {
  if (typeof result.output !== 'string' && result.output.some((part) => part.type !== 'text')) {
    const media = result.output;
    const described = media.some((part) => part.type === 'text' && part.text.trim() !== '');
    return described ? result : { ...result, output: [{ type: 'text', text: MEDIA_OUTPUT }, ...media] };
  }
  const text = joined(result.output);
  if (text === '') return { ...result, output: EMPTY_OUTPUT };
  return spillOutput(
    { ...result, output: text },
    {
      toolName: call.name,
      toolCallId: call.id,
      dir: join(deps.environment.sessionDir, 'agents', deps.agentId, 'tool-results'),
      onError: (message) => deps.report(`a long result of ${call.name} could not be saved`, new Error(message)),
    },
  );
}

const joined = (output: ToolOutput): string =>
  typeof output === 'string' ? output : output.map((part) => (part.type === 'text' ? part.text : '')).join('');

const reminderBlock = (text: string) => `\n\n<system-reminder>\n${text}\n</system-reminder>`;

function withReminder(result: ToolResult, text: string): ToolResult {
  const reminder = reminderBlock(text);
  if (typeof result.output === 'string') return { ...result, output: result.output + reminder };
  return { ...result, output: [...result.output, { type: 'text', text: reminder }] };
}
