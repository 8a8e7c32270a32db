/** Maps events of a session to runs of hooks, and applies their results. */
import { cutText, OUTPUT_MAX_CHARS } from '#server/text/truncate.ts';
import type { AgentContext, SessionContext } from '#server/agent/contract/context.ts';
import { parseArguments } from '#server/text/tool-arguments.ts';
import type {
  Feature,
  FeatureServices,
  GuardedCall,
  LiveFeature,
  PromptStart,
  StartingPrompt,
} from '#server/agent/contract/feature.ts';
import type { Hooks } from '#server/hooks/hooks.ts';
import { entering, event, type Draft } from '#server/journal/records.ts';
import type { HookEvent } from '#schema/config/config.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { ContextMessage, ToolCall } from '#schema/engine.ts';
import type { CompactionTrigger } from '#schema/events/compaction.ts';
import type { TaskInfo } from '#schema/events/tasks.ts';
import { createHookRuns } from './hook-runs.ts';
import { createSessionLife } from './session-life.ts';
import { hooksTranscript } from './transcript.ts';
import type { StoredResult } from '#server/agent/contract/calls.ts';

/** Length to which a tool's output is cut for hooks. */
export const HOOK_OUTPUT_CHARS = 2000;

declare module '#server/agent/contract/feature.ts' {
  interface FeatureServices {
    readonly hooks: Hooks;
  }
}

function open(session: SessionContext, { hooks }: FeatureServices): LiveFeature {
  const { log } = session;
  const runs = createHookRuns(session, hooks);
  const life = createSessionLife(session, hooks, runs);
  /** The turn that Stop hooks have continued, by agent. */
  const goneOn = new Map<string, number>();
  /** The record that the next step has to append, by agent. */
  const pendingResults = new Map<string, Draft>();

  async function askAboutPrompt(
    agent: AgentContext,
    { id, text }: StartingPrompt,
    signal: AbortSignal,
  ): Promise<PromptStart> {
    if (agent.id === MAIN_AGENT) await life.begun(signal);
    if (signal.aborted) return {};
    const { text: prompt } = await log.load({ text });
    const { blocked, texts } = await runs.ask('UserPromptSubmit', prompt, { prompt, is_steer: false }, signal);
    if (blocked !== undefined) return { refused: true, records: refusal(agent.id, blocked, id) };
    const content = cutText(texts.join('\n\n'), OUTPUT_MAX_CHARS);
    return content === '' ? {} : { records: addition(agent.id, content, id) };
  }

  async function askBeforeCompaction(
    agentId: string,
    fields: { trigger: CompactionTrigger; token_count: number },
    signal: AbortSignal,
  ): Promise<void> {
    if (agentId === MAIN_AGENT) await life.begun(signal);
    if (!signal.aborted) await runs.ask('PreCompact', fields.trigger, fields, signal);
  }

  async function mayCall({ call, signal }: GuardedCall): Promise<string | undefined> {
    const { blocked } = await runs.ask('PreToolUse', call.name, callFacts(call), signal);
    return blocked === undefined ? undefined : `A hook denied this call; it was not run. Reason: ${blocked}`;
  }

  async function askBeforeTurnEnd(agent: AgentContext, turnId: number, signal: AbortSignal): Promise<ContextMessage[]> {
    if (goneOn.get(agent.id) === turnId) return [];
    const { blocked } = await runs.ask('Stop', '', { stop_hook_active: false }, signal);
    if (blocked === undefined || signal.aborted) return [];
    goneOn.set(agent.id, turnId);
    pendingResults.set(agent.id, event(agent.id, 'hook.result', { turnId, hookEvent: 'Stop', content: blocked }));
    const origin = { kind: 'system_trigger' as const, name: 'stop_hook' };
    return [{ role: 'user', content: [{ type: 'text', text: blocked }], toolCalls: [], origin }];
  }

  function tellOfCall(agent: AgentContext, call: ToolCall, { output, isError }: StoredResult): void {
    const happened: HookEvent = isError ? 'PostToolUseFailure' : 'PostToolUse';
    runs.tell(agent.id, happened, call.name, async () => {
      const whole = await log.load({ output });
      const text =
        typeof whole.output === 'string'
          ? whole.output
          : whole.output.flatMap((part) => (part.type === 'text' ? part.text : [])).join('');
      const shown = cutText(text, HOOK_OUTPUT_CHARS);
      return { match: call.name, fields: { ...callFacts(call), [isError ? 'error' : 'tool_output']: shown } };
    });
  }

  session.tasks.onStarted((task) => {
    const { kind } = task.info();
    runs.tell(task.agentId, 'TaskStarted', kind, () => taskFacts(task.info()));
  });

  return {
    onAgentCreated(agent, { model, profile }) {
      if (agent.id === MAIN_AGENT) {
        const { config, bound } = agent.state();
        life.begin({ model: model ?? config.model, profile: profile?.name ?? bound?.profile });
      }
      return [];
    },
    beforePrompt(agent, prompt) {
      life.beat();
      // A text that is stored as a blob is matched after it has been loaded.
      const text = typeof prompt.text === 'string' ? prompt.text : undefined;
      const waits = agent.id === MAIN_AGENT && life.beginning;
      if (!waits && !hooks.wanted('UserPromptSubmit', text)) return undefined;
      return (signal) => askAboutPrompt(agent, prompt, signal);
    },
    // A turn that a prompt opened has waited already; others wait here for the SessionStart hooks.
    onTurnStart: ({ id }, signal) => (id === MAIN_AGENT && life.beginning ? life.begun(signal) : undefined),
    beforeToolCall: (_agent, call) => (hooks.wanted('PreToolUse', call.call.name) ? mayCall(call) : undefined),
    beforeCompact({ id }, { trigger, tokens }, signal) {
      if (!hooks.wanted('PreCompact', trigger)) return undefined;
      return askBeforeCompaction(id, { trigger, token_count: tokens }, signal);
    },
    afterCompact: ({ id }, { trigger, tokens }) =>
      runs.tell(id, 'PostCompact', trigger, () => ({
        match: trigger,
        fields: { trigger, estimated_token_count: tokens },
      })),
    afterToolCall(agent, call, result) {
      tellOfCall(agent, call, result);
      return {};
    },
    get beforeTurnEnd() {
      return hooks.wanted('Stop') ? askBeforeTurnEnd : undefined;
    },
    onStepStart({ id }) {
      const draft = pendingResults.get(id);
      if (!draft) return {};
      pendingResults.delete(id);
      return { before: [draft] };
    },
    onTurnEnd({ id }) {
      goneOn.delete(id);
      pendingResults.delete(id);
      return {};
    },
    beforeSubagent(_agent, { name, prompt }, signal) {
      if (!hooks.wanted('SubagentStart', name)) return undefined;
      return runs.ask('SubagentStart', name, { agent_name: name, prompt }, signal).then(() => undefined);
    },
    onSubagentEnd: (agent, { name, response }) =>
      runs.tell(agent.id, 'SubagentStop', name, () => ({ match: name, fields: { agent_name: name, response } })),
    async onUnload(reason) {
      await runs.close();
      await life.end(reason);
    },
  };
}

/** The records after the message of a refused prompt. */
function refusal(agentId: string, content: string, ownerPromptId: string): Draft[] {
  const hookEvent = 'UserPromptSubmit';
  const origin = { kind: 'hook_result' as const, event: hookEvent, blocked: true, ownerPromptId };
  const message: ContextMessage = {
    role: 'assistant',
    content: [{ type: 'text', text: content }],
    toolCalls: [],
    origin,
  };
  return [
    event(agentId, 'hook.result', { hookEvent, content, blocked: true }),
    entering(agentId, [message], { cause: 'hook' }),
  ];
}

function addition(agentId: string, content: string, ownerPromptId: string): Draft[] {
  const hookEvent = 'UserPromptSubmit';
  const text = `<hook_result hook_event="${hookEvent}">\n${content}\n</hook_result>`;
  const origin = { kind: 'hook_result' as const, event: hookEvent, ownerPromptId };
  const message: ContextMessage = { role: 'user', content: [{ type: 'text', text }], toolCalls: [], origin };
  return [entering(agentId, [message], { cause: 'hook' }), event(agentId, 'hook.result', { hookEvent, content })];
}

const callFacts = ({ id, name, arguments: args }: ToolCall) => ({
  tool_name: name,
  tool_input: parseArguments(args),
  tool_call_id: id,
});

const taskFacts = ({ taskId, kind, description, status, detached = false, startedAt }: TaskInfo) => ({
  match: kind,
  fields: { task_id: taskId, kind, description, status, detached, started_at: startedAt },
});

export const hooks: Feature = { name: 'hooks', transcript: hooksTranscript, open };
