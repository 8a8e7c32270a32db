/** Random but lawful session histories: what holds for every journal is tested over them. */
import { readContext } from '#server/journal/projections/context.ts';
import { countersOf } from '#server/journal/projections/counters.ts';
import { internal, event, unsent, type Draft } from '#server/journal/records.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import type { ContextMessage, ToolCall } from '#schema/engine.ts';
import { iso } from '#schema/scalars.ts';

export type Random = () => number;

/** Mulberry32: the same seed gives the same history. */
export function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const usage = { inputOther: 10, output: 3, inputCacheRead: 5, inputCacheCreation: 1 };
const AT = iso(1_000);

export interface Driver {
  /** Appends a lawful line or two, whatever they are; to be flushed before the next step. */
  step(): Promise<void>;
}

/** Drives a claimed log. */
export function createDriver(log: SessionLog, random: Random): Driver {
  let ids = 0;
  const chance = (share: number) => random() < share;
  const id = (kind: string) => `${kind}_${(ids += 1)}`;
  const context = (agent = 'main') => readContext(log.state.context, agent);
  const turnOf = (agent = 'main') => log.state.status.agents.get(agent)?.turn;
  const text = () => (chance(0.1) ? 'long é '.repeat(3_000) : `text ${ids} 🚀`);

  function add(
    messages: ContextMessage[],
    cause: 'input' | 'reminder',
    enters?: 'turn' | 'step',
    agent = 'main',
  ): Draft {
    const start = context(agent).entries.length;
    return event(
      agent,
      'context.spliced',
      { start, deleteCount: 0, messages, tokens: 7 },
      enters ? { cause, enters } : { cause },
    );
  }

  function user(promptId: string): ContextMessage {
    const image = { type: 'image_url' as const, imageUrl: { url: `data:image/png;base64,${'A'.repeat(20_000)}` } };
    const content = [{ type: 'text' as const, text: text() }, ...(chance(0.1) ? [image] : [])];
    return { role: 'user', content, toolCalls: [], origin: { kind: 'user' }, id: promptId };
  }

  function notification(): ContextMessage {
    const taskId = id('bash');
    const origin = { kind: 'task' as const, taskId, status: 'completed', notificationId: `task:${taskId}:completed` };
    return { role: 'user', content: [{ type: 'text', text: 'done' }], toolCalls: [], origin };
  }

  function startTurn(): void {
    const promptId = id('msg');
    const turnId = countersOf(log.state.counters, 'main').nextTurnId;
    const content = [{ type: 'text' as const, text: 'hello' }];
    const submitted = { promptId, userMessageId: promptId, status: 'running' as const, content, createdAt: AT };
    log.append([
      event('main', 'session.meta.updated', { patch: { lastPrompt: promptId } }),
      event('main', 'prompt.submitted', submitted),
      event('main', 'turn.started', { turnId, promptId, origin: { kind: 'user' }, prompt: 'hello' }),
      event('main', 'event.session.work_changed', { busy: true, main_turn_active: true, pending_interaction: 'none' }),
      add([user(promptId)], 'input', 'turn'),
    ]);
  }

  function queuePrompt(): void {
    const promptId = id('msg');
    const content = [{ type: 'text' as const, text: 'later' }];
    const submitted = { promptId, userMessageId: promptId, status: 'queued' as const, content, createdAt: AT };
    log.append([
      event('main', 'prompt.submitted', submitted),
      event('main', 'prompt.queued', { promptId, content, queueLength: 1 }),
    ]);
  }

  function startStep(turnId: number): void {
    const step = (context().entries.findLast((entry) => entry.turnId === turnId)?.step ?? 0) + 1;
    log.append([
      ...(chance(0.3) ? [add([notification()], 'input', 'step')] : []),
      event('main', 'turn.step.started', { turnId, step, stepId: id('step') }),
    ]);
  }

  function respond(turnId: number, step: number, stepId: string): void {
    const calls: ToolCall[] = Array.from({ length: Math.floor(random() * 3) }, () => ({
      id: id('call'),
      name: chance(0.3) ? 'TodoList' : 'Bash',
      arguments: JSON.stringify({ text: text() }),
    }));
    const length = context().entries.length;
    const answered = internal('main', 'step.response', {
      turnId,
      step,
      stepId,
      parts: [
        { type: 'think', think: text(), encrypted: 'c2ln' },
        { type: 'text', text: text() },
      ],
      calls,
      model: chance(0.5) ? 'm1' : 'm2',
      usage,
      contextTokens: length * 10,
      anchor: { length, tokens: length * 10 },
    });
    if (calls.length > 0) log.append([answered]);
    else log.append([answered, ...completeStep(turnId, step, stepId), ...endTurn(turnId)]);
  }

  function completeStep(turnId: number, step: number, stepId: string): Draft[] {
    return [event('main', 'turn.step.completed', { turnId, step, stepId, usage, finishReason: 'end_turn' })];
  }

  function endTurn(turnId: number): Draft[] {
    const promptId = log.state.prompts.get('main')?.active;
    return [
      event('main', 'turn.ended', { turnId, reason: 'completed', durationMs: 5 }),
      event('main', 'event.session.work_changed', {
        busy: false,
        main_turn_active: false,
        pending_interaction: 'none',
        last_turn_reason: 'completed',
      }),
      ...(promptId === undefined
        ? []
        : [event('main', 'prompt.completed', { promptId, finishedAt: AT, reason: 'completed' })]),
    ];
  }

  /** Aborted in mid-stream: the calls of the partial answer never enter the context. */
  function abort(turnId: number, step: number, stepId: string): void {
    const call = { id: id('call'), name: 'Bash', arguments: '{"comm' };
    log.append([
      internal('main', 'step.response', {
        turnId,
        step,
        stepId,
        parts: [{ type: 'text', text: 'half an ans' }],
        calls: [call],
        partial: true,
        model: 'm1',
      }),
      unsent(
        event('main', 'tool.result', { turnId, toolCallId: call.id, output: 'cut', isError: true, synthetic: true }),
      ),
      event('main', 'turn.step.interrupted', { turnId, step, stepId, reason: 'aborted' }),
      ...endTurn(turnId),
    ]);
  }

  function approval(turnId: number, toolCallId: string): void {
    const approval_id = id('approval');
    const display = { kind: 'generic' as const, summary: 'run' };
    const common = { turnId, toolCallId, toolName: 'Bash', action: 'Run', display, toolInput: {} };
    log.append([
      event('main', 'permission.approval.requested', { id: approval_id, ...common }),
      event('main', 'event.session.work_changed', {
        busy: true,
        main_turn_active: true,
        pending_interaction: 'approval',
      }),
      event('main', 'event.approval.requested', {
        approval_id,
        session_id: log.sessionId,
        agent_id: 'main',
        turn_id: turnId,
        tool_call_id: toolCallId,
        tool_name: 'Bash',
        action: 'Run',
        tool_input_display: display,
        created_at: AT,
        expires_at: AT,
      }),
    ]);
  }

  function approve(approval_id: string): void {
    const rule = chance(0.5) ? { rule: `Bash(${approval_id})` } : undefined;
    log.append([
      event('main', 'event.session.work_changed', { busy: true, main_turn_active: true, pending_interaction: 'none' }),
      event('main', 'event.approval.resolved', { approval_id, decision: 'approved', resolved_at: AT }, rule),
    ]);
  }

  function result(turnId: number, toolCallId: string): void {
    const todos = chance(0.3) ? { todos: [{ title: `todo ${ids}`, status: 'pending' }] } : {};
    const files = { files: [{ path: `/p/${ids % 3}.txt`, mtimeMs: ids }] };
    const output = chance(0.2) ? [{ type: 'text' as const, text: text() }] : text();
    log.append([event('main', 'tool.result', { turnId, toolCallId, output }, { ...todos, ...files, note: 'n' })]);
  }

  function inStep(turnId: number, step: number, stepId: string, calls: Map<string, { started: boolean }>): void {
    const answered = (context().entries.at(-1)?.message.content.length ?? 0) > 0 || calls.size > 0;
    const pending = [...log.state.interactions.approvals.keys()][0];
    const next = [...calls][0];
    if (pending !== undefined) approve(pending);
    else if (next) {
      const [toolCallId, { started }] = next;
      if (started) result(turnId, toolCallId);
      else if (chance(0.3)) approval(turnId, toolCallId);
      else log.append([event('main', 'tool.call.started', { turnId, toolCallId, name: 'Bash', args: { a: text() } })]);
    } else if (answered) log.append(completeStep(turnId, step, stepId));
    else streamEnd(turnId, step, stepId);
  }

  function streamEnd(turnId: number, step: number, stepId: string): void {
    const fate = random();
    if (fate < 0.15) abort(turnId, step, stepId);
    else if (fate < 0.3) {
      const retry = {
        failedAttempt: 1,
        nextAttempt: 2,
        maxAttempts: 3,
        delayMs: 1.5,
        errorName: 'E',
        errorMessage: 'e',
      };
      log.append([event('main', 'turn.step.retrying', { turnId, step, stepId, ...retry })]);
      startStep(turnId);
    } else respond(turnId, step, stepId);
  }

  /** Removes everything from the newest anchor on, as far as a checkpoint reaches. */
  function undo(): void {
    const { entries } = context();
    const start = entries.findLastIndex((entry) => entry.checkpoint);
    if (start === -1) return;
    log.append([
      event(
        'main',
        'context.spliced',
        { start, deleteCount: entries.length - start, messages: [], tokens: start },
        { cause: 'undo' },
      ),
      event('main', 'session.meta.updated', { patch: { lastPrompt: '' } }),
      event('main', 'context.undone', { turns: 1 }),
    ]);
  }

  async function compact(): Promise<void> {
    const { entries } = context();
    if (entries.length < 3) return;
    const kept = entries.flatMap((entry, index) => (entry.message.origin?.kind === 'user' ? [index] : []));
    const summary: ContextMessage = {
      role: 'user',
      content: [{ type: 'text', text: 'summary' }],
      toolCalls: [],
      origin: { kind: 'compaction_summary' },
    };
    const messages = [...(await log.load(kept.flatMap((index) => entries[index]?.message ?? []))), summary];
    const work = { main_turn_active: false, pending_interaction: 'none' as const };
    log.append([
      event('main', 'compaction.started', { trigger: 'manual' }),
      event('main', 'event.session.work_changed', { busy: true, ...work }),
    ]);
    if (chance(0.2)) return;
    const counts = { compactedCount: entries.length, tokensBefore: 100, tokensAfter: 9 };
    log.append([
      internal('main', 'usage.recorded', { model: 'm1', usage, scope: 'session', purpose: 'compaction' }),
      event(
        'main',
        'context.spliced',
        { start: 0, deleteCount: entries.length, messages, tokens: 9 },
        { cause: 'compaction', from: [...kept, null] },
      ),
      event('main', 'compaction.completed', { result: { summary: 'summary', ...counts } }),
      event('main', 'event.session.work_changed', { busy: false, ...work }),
    ]);
  }

  function task(): void {
    const running = [...log.state.status.tasks.values()][0];
    if (running) {
      const info = { ...running.info, status: 'completed' as const, endedAt: 9 };
      log.append([
        event('main', 'task.terminated', { info }, { outputTail: '' }),
        event('main', 'background.task.terminated', { info }),
      ]);
      return;
    }
    const taskId = id('bash');
    const info = {
      kind: 'process' as const,
      taskId,
      description: 'build',
      status: 'running' as const,
      startedAt: 1,
      endedAt: null,
      command: 'make',
      pid: 4,
      exitCode: null,
    };
    log.append([event('main', 'task.started', { info }), event('main', 'background.task.started', { info })]);
  }

  function subagent(): void {
    const agent = `agent-${log.state.counters.highestAgent + 1}`;
    const prompt: ContextMessage = {
      role: 'user',
      content: [{ type: 'text', text: 'look around' }],
      toolCalls: [],
      origin: { kind: 'system_trigger', name: 'subagent' },
    };
    const promptId = id('msg');
    const origin = { kind: 'system_trigger' as const, name: 'subagent' };
    log.append([
      event(agent, 'agent.created', {}, { kind: 'sub', parentAgentId: 'main', purpose: 'task' }),
      event(agent, 'turn.started', { turnId: 0, promptId, origin, prompt: 'look around' }),
      event(
        agent,
        'context.spliced',
        { start: context().entries.length, deleteCount: 0, messages: [prompt], tokens: 5 },
        { cause: 'copy', copyOf: 'main' },
      ),
      event('main', 'subagent.spawned', {
        subagentId: agent,
        subagentName: 'explore',
        parentToolCallId: '',
        runInBackground: false,
      }),
      event('main', 'subagent.started', { subagentId: agent }),
    ]);
    if (chance(0.5)) return;
    log.append([
      event(agent, 'turn.ended', { turnId: 0, reason: 'completed', durationMs: 1 }),
      event(agent, 'prompt.completed', { promptId, finishedAt: AT, reason: 'completed' }),
      event('main', 'subagent.completed', { subagentId: agent, resultSummary: 'all fine' }),
    ]);
  }

  async function idle(): Promise<void> {
    const choice = Math.floor(random() * 12);
    if (choice < 5) startTurn();
    else if (choice === 5) undo();
    else if (choice === 6) await compact();
    else if (choice === 7) task();
    else if (choice === 8) log.append([planChange()]);
    else if (choice === 9)
      log.append([internal('main', 'turn.skipped', { turnId: countersOf(log.state.counters, 'main').nextTurnId })]);
    else if (choice === 10)
      log.append([internal('main', 'agent.config', { thinkingEffort: chance(0.5) ? 'high' : 'low' })]);
    else log.append([add([notification()], 'input')]);
  }

  function planChange(): Draft {
    return context().plan
      ? internal('main', 'plan.left', { how: 'exit' })
      : internal('main', 'plan.entered', { id: id('plan'), trigger: 'tool' });
  }

  async function step(): Promise<void> {
    const turn = turnOf();
    if (turn?.step) {
      const aside = random();
      if (aside < 0.05) queuePrompt();
      else if (aside < 0.1 && turn.step.calls.size > 0) subagent();
      else inStep(turn.turnId, turn.step.step, turn.step.stepId, turn.step.calls);
    } else if (turn) {
      if (chance(0.3) && context().entries.some((entry) => entry.turnId === turn.turnId))
        log.append(endTurn(turn.turnId));
      else startStep(turn.turnId);
    } else await idle();
  }

  return { step };
}

/** Claims the log and appends a birth and `lines` random lines, each flushed. */
export async function drive(
  log: SessionLog,
  seed: number,
  lines: number,
  after?: () => Promise<void>,
): Promise<Driver> {
  await log.claim();
  const first = !log.state.counters.agents.has('main');
  log.append([
    event('main', 'agent.created', {}, first ? { kind: 'main' } : undefined),
    internal('main', 'agent.config', { model: 'm1', permission: 'manual', runtimeId: 'local' }),
  ]);
  const driver = createDriver(log, seeded(seed));
  for (let line = 0; line < lines; line += 1) {
    await driver.step();
    await after?.();
  }
  return driver;
}
