/** Admission of a call: its tool accepts the arguments, no guard refuses it, and permission is granted. */
import { errorMessage } from '#server/errors/service-error.ts';
import type { ApprovalAnswer } from '#server/interactions/approvals.ts';
import type { Decision } from '#server/permissions/decision.ts';
import type { CheckedCall, PreparedCall, Tool } from '#server/tools/tool.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { ToolCall } from '#schema/engine.ts';
import { parseArguments, shownArguments } from '#server/text/tool-arguments.ts';
import { visibleLine } from '#server/text/visible-text.ts';
import type { AdmittedCall, Batch } from './batch.ts';
import { reminderBlock, resultDraft, startDraft, type ShownCall } from './call-records.ts';
import { callKey } from './repeat-guard.ts';
import { staleFile } from './stale-files.ts';

/** The decisions so far on the calls of the response. */
export interface Decided {
  admitted: AdmittedCall[];
  /** By call key: an equal call later in the response gets the same refusal without another approval request. */
  refused: Map<string, { prepared: PreparedCall | undefined; text: string }>;
  /** An admitted call is the last one that runs. */
  stopped: boolean;
  /** A refused call was repeated so often that the turn must stop. */
  stopTurn: boolean;
}

/** Decides one call. If it may not run, records its start and its error immediately. */
export async function admit(call: ToolCall, decided: Decided, batch: Batch): Promise<void> {
  const { agent, turn } = batch;
  turn.signal.throwIfAborted();
  const checked = preflight(call, batch);
  const { args } = checked;
  if (decided.stopped) {
    await refuse(call, args, undefined, 'Skipped: an earlier call of the same response has ended the work.', batch);
    return;
  }
  const key = callKey(call.name, args);
  const first = decided.admitted.find((entry) => entry.key === key);
  if (first) {
    start(call, args, await shownCall(args, first.prepared, batch), first.prepared, batch);
    first.duplicates.push(call);
    return;
  }
  const before = decided.refused.get(key);
  if (before) {
    await refuse(call, args, before.prepared, before.text, batch);
    return;
  }
  const repeat = agent.repeats.count(key);
  const refused = async (prepared: PreparedCall | undefined, problem: string) => {
    const text = problem + (repeat.reminder ? reminderBlock(repeat.reminder) : '');
    decided.refused.set(key, { prepared, text });
    decided.stopTurn ||= repeat.stopTurn;
    await refuse(call, args, prepared, text, batch);
  };
  if ('problem' in checked) {
    await refused(undefined, checked.problem);
    return;
  }
  const prepared = await prepare(checked, batch);
  turn.signal.throwIfAborted();
  if ('problem' in prepared) {
    await refused(undefined, prepared.problem);
    return;
  }
  const shown = await shownCall(args, prepared, batch);
  const candidate = { call, tool: checked.tool, prepared };
  const problem = await guarded(candidate, decided.admitted, batch);
  const verdict = problem === undefined ? await permission(candidate, shown, decided.admitted, batch) : { problem };
  turn.signal.throwIfAborted();
  if ('problem' in verdict) {
    await refused(prepared, verdict.problem);
    return;
  }
  start(call, args, shown, prepared, batch);
  decided.admitted.push({ ...verdict, call, prepared, args, key, repeat, duplicates: [] });
  decided.stopped = prepared.stopsBatch === true;
}

/** Checks that the tool exists, is active and accepts the arguments. */
function preflight(
  call: ToolCall,
  { agent, tools, environment }: Batch,
): (CheckedCall & { tool: Tool }) | { args: unknown; problem: string } {
  const tool = tools.get(call.name);
  const args = shownArguments(call.arguments);
  if (!tool || !environment.activeTools.has(call.name)) {
    const reason = tool ? 'is disabled in this session' : 'does not exist';
    const names = [...environment.activeTools].join(', ');
    return { args, problem: `The tool "${call.name}" ${reason}. Available tools: ${names || 'none'}.` };
  }
  for (const feature of agent.session.features) {
    const problem = feature.toolUnavailable?.(agent, tool);
    if (problem !== undefined) return { args, problem };
  }
  const checked = tool.check(parseArguments(call.arguments));
  if ('args' in checked) return { ...checked, tool };
  return { args, problem: `Invalid arguments for ${call.name}: ${checked.problem}` };
}

/** Prepares the call; an error that the tool throws here fails only this call. */
async function prepare(checked: CheckedCall, { environment }: Batch): Promise<PreparedCall | { problem: string }> {
  try {
    return await checked.prepare(environment);
  } catch (error) {
    return { problem: errorMessage(error) || 'The tool failed.' };
  }
}

/** A prepared call that is not decided yet. */
interface Candidate {
  call: ToolCall;
  tool: Tool;
  prepared: PreparedCall;
}

/** Runs the features' guards in order, then the stale-file guard; returns the first refusal. */
async function guarded(
  candidate: Candidate,
  admitted: AdmittedCall[],
  { agent, turn, calls, environment }: Batch,
): Promise<string | undefined> {
  const earlier = admitted.map((entry) => entry.prepared);
  for (const feature of agent.session.features) {
    try {
      const problem = await feature.beforeToolCall?.(agent, {
        ...candidate,
        turnId: turn.id,
        batch: calls,
        admitted: earlier,
        signal: turn.signal,
      });
      if (problem !== undefined) return problem;
    } catch (error) {
      // A call whose check failed must not run.
      return `The call could not be checked, so it was not run: ${errorMessage(error)}`;
    }
  }
  return staleFile(candidate.prepared, earlier, agent.state().files, environment.runtime);
}

type Permission = Pick<AdmittedCall, 'outdated' | 'explicitGit' | 'answer'>;

/** Applies the policy and requests approval where it requires one. `problem` is the refusal's text. */
async function permission(
  { call, tool, prepared }: Candidate,
  { args, display }: ShownCall,
  admitted: readonly AdmittedCall[],
  { agent, turn }: Batch,
): Promise<{ problem: string } | Permission> {
  const { session } = agent;
  let decision: Decision;
  try {
    decision = await session.services.decide(tool, prepared, {
      agentId: agent.id,
      place: session,
      mode: agent.config.permission(),
      remembered: agent.state().rules,
      steps: session.features.flatMap((feature) => feature.permissionSteps ?? []),
      admitted: admitted.map((entry) => entry.prepared),
    });
  } catch (error) {
    // A path that cannot be resolved (a cycle of links, an unreadable folder) is not approved.
    return { problem: `Permission could not be decided, so the call was not run: ${errorMessage(error)}` };
  }
  const { outdated, explicitGit } = decision;
  if (decision.kind === 'deny') {
    const reason = decision.reason ? ` Reason: ${decision.reason}` : '';
    return { problem: `The call was denied by the permission rules.${reason}` };
  }
  const { review } = prepared;
  if (review?.records) {
    const records = await review.records();
    turn.signal.throwIfAborted();
    agent.log.append(records);
  }
  if (decision.kind === 'approve') return { outdated, explicitGit, answer: undefined };
  const label = visibleLine(prepared.label ?? `Approve ${call.name}`);
  const { id, answer } = session.approvals.ask(
    {
      agentId: agent.id,
      turnId: turn.id,
      toolCallId: call.id,
      toolName: call.name,
      action: label,
      display: display ?? { kind: 'generic', summary: label, detail: args },
      toolInput: args,
      rule: decision.rule,
    },
    turn.signal,
  );
  turn.stream.waiting({ approvalId: id, toolCallId: call.id });
  const given = await answer;
  turn.stream.waiting(undefined);
  if (review) return { outdated, explicitGit, answer: given };
  if (given.decision !== 'approved') return { problem: refusalText(given, agent.id) };
  return { outdated, explicitGit, answer: undefined };
}

function refusalText(answer: ApprovalAnswer, agentId: string): string {
  const what =
    answer.decision === 'rejected'
      ? 'The user rejected this call; it was not run.'
      : 'The approval of this call was cancelled; it was not run.';
  const more = agentId === MAIN_AGENT ? '' : ' Do not retry it or reach the same by another way.';
  return answer.feedback ? `${what}${more} Reason: ${answer.feedback}` : what + more;
}

/** The call as clients receive it, its long texts stored. Throws if the turn was aborted: then nothing is appended. */
async function shownCall(
  args: unknown,
  prepared: PreparedCall | undefined,
  { agent, turn }: Batch,
): Promise<ShownCall> {
  const shown = await agent.log.store({ args, ...(prepared?.display ? { display: prepared.display } : {}) });
  turn.signal.throwIfAborted();
  return shown;
}

function start(call: ToolCall, args: unknown, shown: ShownCall, prepared: PreparedCall, { agent, turn }: Batch): void {
  agent.log.append([startDraft(agent.id, turn.id, call, shown, prepared)]);
  turn.stream.toolStarted({ toolCallId: call.id, name: call.name, args, prepared });
}

/** Records the start and the error of a call that will not run, in one journal line. */
async function refuse(
  call: ToolCall,
  args: unknown,
  prepared: PreparedCall | undefined,
  text: string,
  batch: Batch,
): Promise<void> {
  const { agent, turn } = batch;
  const output = await agent.log.store(text);
  const shown = await shownCall(args, prepared, batch);
  agent.log.append([
    startDraft(agent.id, turn.id, call, shown, prepared),
    resultDraft(agent.id, turn.id, call.id, { output, isError: true }),
  ]);
}
