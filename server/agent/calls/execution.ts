/** Execution of an admitted call, from its start to its result. */
import { join } from 'node:path';
import { errorMessage } from '#server/errors/service-error.ts';
import type { Draft } from '#server/journal/records.ts';
import { ABORT_GRACE_MS, type RunContext, type ToolProgress, type ToolResult } from '#server/tools/tool.ts';
import type { ToolCall } from '#schema/engine.ts';
import type { AgentContext } from '../contract/context.ts';
import { abortText, type AdmittedCall, type Batch } from './batch.ts';
import { normalized, resultDraft, withReminder } from './call-records.ts';
import { spillOutput } from './spill.ts';
import { changedSinceRead } from './stale-files.ts';
import type { StoredResult } from '../contract/calls.ts';

/** Extra wait after the grace time, because a killed process needs a moment to exit. */
const KILLED_WAIT_MS = 500;

/** Runs the call and records its result. Returns whether the turn must stop. */
export async function runCall(entry: AdmittedCall, batch: Batch): Promise<boolean> {
  const { turn } = batch;
  const run = await execute(entry, batch);
  if (run.recorded) tellEnd(entry, run.result, batch);
  else {
    const agentsMd = run.result.isError ? [] : await turn.nestedInstructions(entry.prepared);
    const { output, note } = run.result;
    // Recorded even if the signal has aborted meanwhile: every started call has exactly one result.
    const texts = await batch.agent.log.store({ output, ...(note ? { note } : {}) });
    finish(entry, { ...run.result, ...texts }, batch, agentsMd);
  }
  return run.result.stopTurn === true || entry.repeat.stopTurn;
}

/** Records the result of a call and of its duplicates. */
export function finish(entry: AdmittedCall, result: StoredResult, batch: Batch, agentsMd: string[] = []): void {
  batch.agent.log.append(endDrafts(entry, result, batch, agentsMd));
  tellEnd(entry, result, batch);
}

function tellEnd({ call, duplicates }: AdmittedCall, { facts }: Pick<ToolResult, 'facts'>, batch: Batch): void {
  for (const one of [call, ...duplicates]) batch.turn.stream.toolEnded(one.id);
  if (facts) batch.agent.publishStatus(facts);
}

function endDrafts(entry: AdmittedCall, given: StoredResult, batch: Batch, agentsMd: string[]): Draft[] {
  const { agent, turn } = batch;
  const { result, left } = withHooks(entry.call, given, agent);
  const whole = { ...result, x: Object.assign({}, result.x, ...left.map(({ x }) => x)) };
  const { files: _files, x: _x, ...copy } = result;
  return [
    ...(result.records ?? []),
    ...left.flatMap(({ records = [] }) => records),
    resultDraft(agent.id, turn.id, entry.call.id, whole, agentsMd),
    ...entry.duplicates.map((call) => resultDraft(agent.id, turn.id, call.id, copy)),
  ];
}

/** Collects the fields and records that features add to a result; if a feature throws, the result is that error. */
function withHooks(call: ToolCall, result: StoredResult, agent: AgentContext) {
  try {
    const left = agent.session.features.flatMap((feature) => feature.afterToolCall?.(agent, call, result) ?? []);
    return { result, left };
  } catch (error) {
    const output = `The call ran, but what follows it failed: ${errorMessage(error)}`;
    return { result: { ...result, output, isError: true }, left: [] };
  }
}

interface Executed {
  result: ToolResult;
  /** The tool has had its result appended already, through `RunContext.finish`. */
  recorded: boolean;
}

async function execute(entry: AdmittedCall, batch: Batch): Promise<Executed> {
  const { call, prepared } = entry;
  const { agent, turn } = batch;
  const { signal } = turn;
  const failed = (output: string): Executed => ({ result: { output, isError: true }, recorded: false });
  const stale = await changedSinceRead(prepared, agent.state().files, batch.environment.runtime);
  if (stale) return failed(stale);
  // An earlier call of the response, or another process while an approval waited, may have put a link in the path.
  const outdated = await entry.outdated?.().catch(() => 'What was permitted could not be checked again.');
  if (outdated !== undefined) return failed(`${outdated} Call it again.`);
  if (signal.aborted) return failed(abortText(signal));
  let live = true;
  let recorded: ToolResult | undefined;
  const reminded = (result: ToolResult) =>
    entry.repeat.reminder && !signal.aborted ? withReminder(result, entry.repeat.reminder) : result;
  const context: RunContext = {
    ...batch.environment,
    toolCallId: call.id,
    turnId: turn.id,
    signal,
    tasks: agent.session.tasks,
    answer: entry.answer,
    explicitGit: entry.explicitGit,
    progress: (update: ToolProgress) => {
      if (live && !signal.aborted) turn.stream.toolProgress(call.id, update);
    },
    finish(result) {
      recorded = reminded(normalized(result));
      return endDrafts(entry, recorded, batch, []);
    },
  };
  try {
    const result = await withGrace(prepared.run(context), signal);
    if (recorded) return { result: recorded, recorded: true };
    return { result: reminded(await spilled(entry, normalized(result), batch)), recorded: false };
  } catch (error) {
    return failed(errorMessage(error) || 'The tool failed.');
  } finally {
    live = false;
  }
}

/** After an abort the tool has a grace time to settle; then a synthetic result replaces its own. */
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

/** Writes long text to a file of the session. */
function spilled({ call }: AdmittedCall, result: ToolResult, { agent }: Batch): Promise<ToolResult> {
  return spillOutput(result, {
    toolName: call.name,
    toolCallId: call.id,
    dir: join(agent.session.dir, 'agents', agent.id, 'tool-results'),
    onError: (message) => agent.session.report(`a long result of ${call.name} could not be saved`, new Error(message)),
  });
}
