/** Random but valid session histories, over which invariants of every journal are tested. */
import { cutOf } from '#server/agent/undo/cut.ts';
import { undoRecords } from '#server/agent/undo/undo.ts';
import { planOf, plans } from '#server/features/plan-mode/projection.ts';
import { swarmTrigger } from '#server/features/swarm/projection.ts';
import { newGoal, withBudgets, withUsage } from '#server/features/goals/goal.ts';
import { goalAt, goalProjection } from '#server/features/goals/projection.ts';
import { budgeted, cleared, completed, counted, created, moved } from '#server/features/goals/records.ts';
import { cancelledReminder } from '#server/features/goals/reminders.ts';
import { readContext } from '#server/journal/projections/context.ts';
import { countersOf } from '#server/journal/projections/counters.ts';
import { runningTasks } from '#server/journal/projections/tasks.ts';
import { entering, internal, event, unsent, type Attachment, type Draft } from '#server/journal/records.ts';
import { noticeId, taskNotice, unreportedTasks } from '#server/journal/task-notices.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import type { Display } from '#schema/rest/display.ts';
import type { ContextMessage, Part, ToolCall } from '#schema/engine.ts';
import { iso } from '#schema/scalars.ts';
import { seeded, type Random } from './random.ts';

const usage = { inputOther: 10, output: 3, inputCacheRead: 5, inputCacheCreation: 1 };
const AT = iso(1_000);

export interface Driver {
  /** Appends one or two valid lines at random; the caller flushes before the next step. */
  step(): Promise<void>;
}

/** Drives a claimed log; ids are counted up from `firstId`. */
export function createDriver(log: SessionLog, random: Random, firstId = 0): Driver {
  let ids = firstId;
  let revisions = 0;
  /** Tool names of the main agent's calls, by id. */
  const names = new Map<string, string>();
  /** The newest step of the main agent, remembered here because a compaction removes it from the context. */
  let newest: { turnId: number; step: number } | undefined;
  /** The prompt whose hook runs. */
  let hooked: string | undefined;
  const chance = (share: number) => random() < share;
  const id = (kind: string) => `${kind}_${(ids += 1)}`;
  const context = (agent = 'main') => readContext(log.state.context, agent);
  /** The plan of the main agent while it is in plan mode. */
  function planning(): string | undefined {
    const { active, id: plan } = planOf(plans.of(log.state.features), 'main');
    return active ? plan : undefined;
  }
  const turnOf = (agent = 'main') => log.state.status.agents.get(agent)?.turn;
  const text = () => (chance(0.02) ? 'long é '.repeat(3_000) : `text ${ids} 🚀`);

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
    const content = [{ type: 'text' as const, text: text() }, ...(chance(0.02) ? [image] : [])];
    return { role: 'user', content, toolCalls: [], origin: { kind: 'user' }, id: promptId };
  }

  function notification(): ContextMessage {
    const taskId = id('bash');
    const origin = { kind: 'task' as const, taskId, status: 'completed', notificationId: `task:${taskId}:completed` };
    return { role: 'user', content: [{ type: 'text', text: 'done' }], toolCalls: [], origin };
  }

  const media = (): Attachment[] => (chance(0.2) ? [{ mediaType: 'image/png', name: `${id('image')}.png` }] : []);

  /** Starts a turn without a prompt. */
  function startOtherTurn(): void {
    const turnId = countersOf(log.state.counters, 'main').nextTurnId;
    const origin = { kind: 'system_trigger' as const, name: 'goal_continuation' };
    const message: ContextMessage = { role: 'user', content: [{ type: 'text', text: 'go on' }], toolCalls: [], origin };
    log.append([event('main', 'turn.started', { turnId, origin }), add([message], 'input', 'turn')]);
  }

  /** Starts or aborts the next queued prompt. */
  function takeQueued(): boolean {
    const queued = [...(log.state.prompts.get('main')?.open.values() ?? [])].find(({ state }) => state === 'queued');
    if (!queued) return false;
    const { promptId } = queued;
    const fate = random();
    if (fate < 0.3) log.append([event('main', 'prompt.aborted', { promptId, abortedAt: AT })]);
    else if (fate < 0.5) {
      log.beginWork();
      hooked = promptId;
    } else {
      const turnId = countersOf(log.state.counters, 'main').nextTurnId;
      log.append([
        event('main', 'turn.started', { turnId, promptId, origin: { kind: 'user' }, prompt: 'later' }),
        add([user(promptId)], 'input', 'turn'),
      ]);
    }
    return true;
  }

  function startTurn(): void {
    const promptId = id('msg');
    const content = [{ type: 'text' as const, text: 'hello' }];
    const submitted = { promptId, userMessageId: promptId, status: 'running' as const, content, createdAt: AT };
    const head = [
      event('main', 'session.meta.updated', { patch: { lastPrompt: promptId } }),
      event('main', 'prompt.submitted', submitted),
    ];
    if (chance(0.3)) {
      log.beginWork(head);
      hooked = promptId;
    } else log.append([...head, ...begin(promptId)]);
  }

  function begin(promptId: string): Draft[] {
    const turnId = countersOf(log.state.counters, 'main').nextTurnId;
    const attachments = media();
    return [
      event(
        'main',
        'turn.started',
        { turnId, promptId, origin: { kind: 'user' }, prompt: chance(0.9) ? 'hello' : '' },
        attachments.length > 0 ? { attachments } : undefined,
      ),
      event('main', 'event.session.work_changed', { busy: true, main_turn_active: true, pending_interaction: 'none' }),
      entering('main', [user(promptId)], { cause: 'input', enters: 'turn' }),
    ];
  }

  /** Settles a prompt's hook: it adds a text or not, blocks the prompt, or is aborted. */
  function endHook(promptId: string): void {
    hooked = undefined;
    const hookEvent = 'UserPromptSubmit';
    const origin = { kind: 'hook_result' as const, event: hookEvent, ownerPromptId: promptId };
    const said = (role: 'user' | 'assistant'): Draft =>
      entering('main', [{ role, content: [{ type: 'text', text: text() }], toolCalls: [], origin }], { cause: 'hook' });
    const fate = random();
    if (fate < 0.25) log.endWork([event('main', 'prompt.aborted', { promptId, abortedAt: AT })]);
    else if (fate < 0.5) {
      log.endWork([
        entering('main', [user(promptId)], { cause: 'input' }),
        event('main', 'hook.result', { hookEvent, content: `no ${ids}`, blocked: true }),
        said('assistant'),
        event('main', 'prompt.completed', { promptId, finishedAt: AT, reason: 'blocked' }),
      ]);
    } else if (fate < 0.75) {
      log.endWork([
        said('user'),
        event('main', 'hook.result', { hookEvent, content: `and ${ids}` }),
        ...begin(promptId),
      ]);
    } else log.endWork(begin(promptId));
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
    const step = (newest?.turnId === turnId ? newest.step : 0) + 1;
    newest = { turnId, step };
    log.append([
      ...(chance(0.3) ? [add([notification()], 'input', 'step')] : []),
      ...tell('step'),
      ...untaken(),
      event('main', 'turn.step.started', { turnId, step, stepId: id('step') }),
    ]);
  }

  /** Steers some queued prompts into the running turn; the first becomes the prompt of a turn without one. */
  function steer(): boolean {
    const own = log.state.prompts.get('main');
    const waiting = [...(own?.open.values() ?? [])].filter(({ state }) => state === 'queued' && chance(0.8));
    const [first] = waiting;
    if (!first) return false;
    const fields = {
      activePromptId: own?.active ?? first.promptId,
      promptIds: waiting.map(({ promptId }) => promptId),
      messageId: first.promptId,
      content: waiting.map(({ promptId }) => ({ type: 'text' as const, text: `steered ${promptId}` })),
      steeredAt: AT,
    };
    const { messageId, content } = fields;
    const message: ContextMessage = { role: 'user', content, toolCalls: [], origin: { kind: 'user' }, id: messageId };
    log.append([event('main', 'prompt.steered', fields, { message })]);
    return true;
  }

  const steered = () => log.state.prompts.get('main')?.entering ?? [];

  /** Steered messages that no step has read yet. */
  function untaken(): Draft[] {
    return steered().map((message) => {
      const attachments = media();
      const more = attachments.length > 0 ? { attachments } : {};
      return entering('main', [message], { cause: 'input', enters: 'step', ...more });
    });
  }

  /** Streams a text in chunks. */
  function stream(turnId: number, type: 'assistant.delta' | 'thinking.delta', whole: string): void {
    for (let at = 0; at < whole.length;) {
      const next = at + 1 + Math.floor(random() * whole.length);
      log.volatile('main', type, { turnId, delta: whole.slice(at, next) });
      at = next;
    }
  }

  function streamCall(turnId: number, call: ToolCall): void {
    const whole = call.arguments ?? '';
    const half = Math.floor(random() * whole.length);
    for (const argumentsPart of ['', whole.slice(0, half), whole.slice(half)]) {
      log.volatile('main', 'tool.call.delta', { turnId, toolCallId: call.id, name: call.name, argumentsPart });
    }
  }

  function toolName(): string {
    if (chance(0.3)) return 'TodoList';
    if (chance(0.2)) return planning() === undefined ? 'EnterPlanMode' : 'ExitPlanMode';
    return 'Bash';
  }

  function respond(turnId: number, step: number, stepId: string): void {
    const calls: ToolCall[] = Array.from({ length: Math.floor(random() * 3) }, () => ({
      id: id('call'),
      name: toolName(),
      arguments: JSON.stringify({ text: text() }),
    }));
    for (const call of calls) names.set(call.id, call.name);
    const length = context().entries.length;
    const parts: Part[] = [
      { type: 'think', think: chance(0.9) ? text() : '', encrypted: 'c2ln' },
      { type: 'text', text: text() },
      ...(chance(0.2) ? [{ type: 'text' as const, text: text() }] : []),
      ...(chance(0.1) ? [{ type: 'think' as const, think: text() }] : []),
    ];
    if (chance(0.8)) {
      for (const part of parts) {
        if (part.type === 'think') stream(turnId, 'thinking.delta', part.think);
        else if (part.type === 'text') stream(turnId, 'assistant.delta', part.text);
      }
      for (const call of calls) streamCall(turnId, call);
      const phase = { kind: 'streaming' as const, turnId, step, stepId: '' as const, stream: 'assistant' as const };
      log.volatile('main', 'agent.status.updated', { phase: { ...phase, since: 1 } }, { transport: true });
    }
    const answered = internal('main', 'step.response', {
      turnId,
      step,
      stepId,
      parts,
      calls,
      model: chance(0.5) ? 'm1' : 'm2',
      usage,
      contextTokens: length * 10,
      anchor: { length, tokens: length * 10 },
    });
    if (calls.length > 0) log.append([answered]);
    // Steered input continues the turn.
    else if (steered().length > 0) log.append([answered, ...completeStep(turnId, step, stepId)]);
    else log.append([answered, ...completeStep(turnId, step, stepId), ...endTurn(turnId)]);
  }

  function completeStep(turnId: number, step: number, stepId: string): Draft[] {
    return [event('main', 'turn.step.completed', { turnId, step, stepId, usage, finishReason: 'end_turn' })];
  }

  /** Ends a turn as cancelled or failed. */
  function breakOff(turnId: number): Draft[] {
    const promptId = log.state.prompts.get('main')?.active;
    const error = { code: 'provider.api_error', message: 'no', retryable: false };
    if (chance(0.5)) {
      return [
        event('main', 'turn.ended', { turnId, reason: 'cancelled', durationMs: 5, interruptReason: 'user_cancelled' }),
        ...untaken(),
        ...(promptId === undefined ? [] : [event('main', 'prompt.aborted', { promptId, abortedAt: AT })]),
      ];
    }
    return [
      event('main', 'turn.ended', { turnId, reason: 'failed', durationMs: 5, error, interruptReason: 'error' }),
      event('main', 'error', error),
      ...untaken(),
      ...(promptId === undefined
        ? []
        : [event('main', 'prompt.completed', { promptId, finishedAt: AT, reason: 'failed' })]),
    ];
  }

  function endTurn(turnId: number): Draft[] {
    if (chance(0.2)) return breakOff(turnId);
    const promptId = log.state.prompts.get('main')?.active;
    return [
      event('main', 'turn.ended', { turnId, reason: 'completed', durationMs: 5 }),
      ...untaken(),
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

  /** Aborts in mid-stream: the calls of the partial answer never enter the context. */
  function abort(turnId: number, step: number, stepId: string): void {
    const call = { id: id('call'), name: 'Bash', arguments: '{"comm' };
    if (chance(0.7)) {
      stream(turnId, 'assistant.delta', 'half an ans');
      streamCall(turnId, call);
    }
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

  /** The plan revision is recorded before the plan is presented. */
  function reviewOf(plan: string): Display {
    revisions += 1;
    const fields = { version: revisions, path: `/plans/${plan}.md`, sha256: 'a'.repeat(64), bytes: 10 };
    log.append([event('main', 'plan.revision', { id: plan, ...fields })]);
    return { kind: 'plan_review', plan: text(), path: fields.path, options: [{ label: 'A' }, { label: 'B' }] };
  }

  function approval(turnId: number, toolCallId: string): void {
    const approval_id = id('approval');
    const toolName = names.get(toolCallId) ?? 'Bash';
    const plan = toolName === 'ExitPlanMode' ? planning() : undefined;
    const display: Display = plan === undefined ? { kind: 'generic', summary: 'run' } : reviewOf(plan);
    const common = { turnId, toolCallId, toolName, action: 'Run', display, toolInput: {} };
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
        tool_name: toolName,
        action: 'Run',
        tool_input_display: display,
        created_at: AT,
        expires_at: AT,
      }),
    ]);
  }

  function approve(approval_id: string): void {
    const rule = chance(0.5) ? { rule: `Bash(${approval_id})` } : undefined;
    const decision = chance(0.6) ? 'approved' : chance(0.5) ? 'rejected' : 'cancelled';
    const more = chance(0.3) ? { feedback: 'no', selected_label: 'Revise' } : {};
    log.append([
      event('main', 'event.session.work_changed', { busy: true, main_turn_active: true, pending_interaction: 'none' }),
      event('main', 'event.approval.resolved', { approval_id, decision, ...more, resolved_at: AT }, rule),
    ]);
  }

  function ask(turnId: number, toolCallId: string): void {
    const questions = [
      {
        id: 'q_0',
        question: 'Which?',
        options: [
          { id: 'opt_0_0', label: 'A' },
          { id: 'opt_0_1', label: 'B', description: 'the other' },
        ],
        multi_select: true,
      },
    ];
    const place = { session_id: log.sessionId, agent_id: 'main', turn_id: turnId, tool_call_id: toolCallId };
    log.append([
      event('main', 'event.question.requested', { question_id: id('question'), ...place, questions, created_at: AT }),
    ]);
  }

  function answerQuestion(question_id: string, turnId: number, toolCallId: string): void {
    const end = chance(0.5)
      ? event('main', 'event.question.answered', { question_id, answers: { 'Which?': 'A' }, resolved_at: AT })
      : event('main', 'event.question.dismissed', { question_id, dismissed_at: AT });
    log.append([end, event('main', 'tool.result', { turnId, toolCallId, output: '{}' })]);
  }

  function result(turnId: number, toolCallId: string): void {
    if (chance(0.3)) {
      log.volatile('main', 'tool.progress', { turnId, toolCallId, update: { kind: 'stdout', text: `line ${ids}` } });
    }
    const files = { files: [{ path: `/p/${ids % 3}.txt`, mtimeMs: ids }] };
    const output = chance(0.2) ? [{ type: 'text' as const, text: text() }] : text();
    const failed = chance(0.1) ? { isError: true as const } : {};
    const unrecorded = chance(0.3) ? unreportedTasks(log.state, 'main').map(({ info }) => noticeId(info)) : [];
    const delivered = unrecorded.length > 0 ? { delivered: unrecorded } : {};
    const name = names.get(toolCallId);
    const wrote = name === 'TodoList' && chance(0.5) && !('isError' in failed);
    const todos = wrote ? { todos: [{ title: `todo ${ids}`, status: 'pending' }] } : {};
    const x = { ...todos, ...files, ...delivered, note: 'n' };
    const changes = name === 'EnterPlanMode' || (name === 'ExitPlanMode' && chance(0.7)) ? [planChange()] : [];
    // A task that ran in the foreground until now, or was left running in the background.
    const begun = chance(0.15) ? startTask(toolCallId) : [];
    log.append([...begun, ...changes, event('main', 'tool.result', { turnId, toolCallId, output, ...failed }, x)]);
  }

  function callStarted(turnId: number, toolCallId: string): Draft {
    const name = names.get(toolCallId) ?? 'Bash';
    const display: Display = { kind: 'plan_review', plan: text() };
    const more = name === 'ExitPlanMode' && chance(0.5) ? { display } : {};
    const todos = chance(0.5) ? [{ title: text(), status: 'pending' }] : undefined;
    const args = name === 'TodoList' && todos ? { todos } : { a: text() };
    return event('main', 'tool.call.started', { turnId, toolCallId, name, args, ...more });
  }

  function inStep(turnId: number, step: number, stepId: string, calls: Map<string, { started: boolean }>): void {
    const answered = (context().entries.at(-1)?.message.content.length ?? 0) > 0 || calls.size > 0;
    const pending = [...log.state.interactions.approvals.keys()][0];
    const next = [...calls][0];
    const question = [...log.state.interactions.questions.values()].find(({ taskId }) => taskId === undefined);
    if (pending !== undefined) approve(pending);
    else if (question?.question.tool_call_id !== undefined) {
      answerQuestion(question.question.question_id, turnId, question.question.tool_call_id);
    } else if (next) {
      const [toolCallId, { started }] = next;
      if (started && chance(0.1)) ask(turnId, toolCallId);
      else if (started) result(turnId, toolCallId);
      else if (chance(0.3)) approval(turnId, toolCallId);
      else log.append([callStarted(turnId, toolCallId)]);
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
      if (chance(0.7)) {
        stream(turnId, 'thinking.delta', 'let me see');
        streamCall(turnId, { id: id('call'), name: 'Bash', arguments: '{}' });
      }
      log.append([event('main', 'turn.step.retrying', { turnId, step, stepId, ...retry })]);
      if (chance(0.9)) startStep(turnId);
      else
        log.append([
          event('main', 'turn.step.interrupted', { turnId, step, stepId, reason: 'aborted' }),
          ...endTurn(turnId),
        ]);
    } else respond(turnId, step, stepId);
  }

  /** Undoes one to three turns, at most as many as can be undone. */
  function undo(): void {
    const { entries } = context();
    const most = entries.filter(({ checkpoint }) => checkpoint).length;
    const count = Math.min(1 + Math.floor(random() * 3), most);
    if (count > 0) log.append(undoRecords(context(), cutOf(context(), count).start, count, ''));
  }

  /** Compacts between turns, or between the steps of one; may be cancelled. */
  async function compact(turnId?: number): Promise<void> {
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
    log.append([
      event('main', 'compaction.started', { trigger: turnId === undefined ? 'manual' : 'auto' }),
      ...(turnId === undefined ? [] : [event('main', 'compaction.blocked', { turnId })]),
    ]);
    if (chance(0.2)) {
      log.append([event('main', 'compaction.cancelled', {}, { cause: 'failed' })]);
      return;
    }
    // Messages that arrive meanwhile follow the summary.
    if (chance(0.2)) log.append([add([notification()], 'input')]);
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
    ]);
  }

  const running = () =>
    runningTasks(log.state.tasks).filter(({ agent, info }) => agent === 'main' && info.kind !== 'agent');

  /** Starts a background task, with or without a parent call. */
  function startTask(call?: string): Draft[] {
    const base = { description: 'build', status: 'running' as const, detached: true, startedAt: 1, endedAt: null };
    const parent = call === undefined ? {} : { parentToolCallId: call };
    if (chance(0.3)) {
      const taskId = id('question');
      const own = { kind: 'question' as const, questionCount: 1, ...(call === undefined ? {} : { toolCallId: call }) };
      const questions = [
        {
          id: 'q_0',
          question: 'Which?',
          options: [
            { id: 'opt_0_0', label: 'A' },
            { id: 'opt_0_1', label: 'B' },
          ],
        },
      ];
      const question = {
        question_id: id('asked'),
        session_id: log.sessionId,
        agent_id: 'main',
        questions,
        created_at: AT,
      };
      const info = { taskId, ...base, ...own };
      return [
        event('main', 'task.started', { info }),
        event('main', 'background.task.started', { info }),
        event('main', 'event.question.requested', question, { taskId }),
      ];
    }
    const info = {
      taskId: id('bash'),
      ...base,
      kind: 'process' as const,
      command: 'make',
      pid: 4,
      exitCode: null,
      ...parent,
    };
    return [event('main', 'task.started', { info }), event('main', 'background.task.started', { info })];
  }

  function endTask(): Draft[] {
    const [task] = running();
    if (!task) return [];
    const status = chance(0.5) ? 'completed' : chance(0.5) ? 'killed' : 'timed_out';
    const info = {
      ...task.info,
      status,
      endedAt: 9,
      ...(chance(0.2) ? { terminalNotificationSuppressed: true } : {}),
    } as const;
    const [question] = [...log.state.interactions.questions.values()].filter(({ taskId }) => taskId === info.taskId);
    const answer = question && { question_id: question.question.question_id };
    return [
      ...(answer
        ? [
            status === 'completed'
              ? event('main', 'event.question.answered', { ...answer, answers: { 'Which?': 'A' }, resolved_at: AT })
              : event('main', 'event.question.dismissed', { ...answer, dismissed_at: AT }),
          ]
        : []),
      event('main', 'task.terminated', { info }, { outputTail: chance(0.5) ? text() : '' }),
      event('main', 'background.task.terminated', { info }),
    ];
  }

  /** Notices of tasks that the agent has not received yet, at a step or as a turn. */
  function tell(enters: 'turn' | 'step'): Draft[] {
    return unreportedTasks(log.state, 'main')
      .slice(0, enters === 'turn' ? 1 : Infinity)
      .flatMap((task) => {
        const { record, message } = taskNotice(task);
        return [record, entering('main', [message], { cause: 'input', enters })];
      });
  }

  function task(): void {
    const [told] = unreportedTasks(log.state, 'main');
    const origin = told && taskNotice(told).message.origin;
    if (origin && chance(0.5)) {
      const turnId = countersOf(log.state.counters, 'main').nextTurnId;
      log.append([event('main', 'turn.started', { turnId, origin }), ...tell('turn')]);
    } else if (running().length > 0 && chance(0.5)) log.append(endTask());
    else log.append(startTask());
  }

  const openSubagents = () => [...log.state.status.subagents.keys()];

  /** Continues a started subagent or starts another one. */
  function subagent(): void {
    const [open] = openSubagents();
    if (open !== undefined && chance(0.7)) workOn(open);
    else startSubagent();
  }

  /** Starts a new agent, sometimes with a copy of the conversation, or an earlier one with another task. */
  function startSubagent(): void {
    const { agents, subagents } = log.state.status;
    const [resumed] = [...agents].find(([one, { birth, turn }]) => birth && !turn && !subagents.has(one)) ?? [];
    const again = chance(0.3) ? resumed : undefined;
    const agent = again ?? `agent-${Math.max(log.state.counters.highestAgent, -1) + 1}`;
    const origin = { kind: 'system_trigger' as const, name: 'subagent' };
    const promptId = id('msg');
    const prompt: ContextMessage = {
      role: 'user',
      content: [{ type: 'text', text: 'look around' }],
      toolCalls: [],
      origin,
      id: promptId,
    };
    const birth =
      again === undefined
        ? [event(agent, 'agent.created', {}, { kind: 'sub', parentAgentId: 'main', purpose: 'task' })]
        : [];
    const copied = event(
      agent,
      'context.spliced',
      { start: context().entries.length, deleteCount: 0, messages: [prompt], tokens: 5 },
      { cause: 'copy', copyOf: 'main' },
    );
    const entered =
      again === undefined && chance(0.5) ? copied : entering(agent, [prompt], { cause: 'input', enters: 'turn' });
    const [call] = [...(turnOf()?.step?.calls ?? [])].find(([, { started }]) => started) ?? [];
    const taskId = id('agent');
    const background = chance(0.4);
    const named = background || chance(0.7);
    const parent = call === undefined ? {} : { parentToolCallId: call };
    const turnId = countersOf(log.state.counters, agent).nextTurnId;
    log.append([
      ...birth,
      ...(background ? backgroundStart(agent, taskId, parent) : []),
      event('main', 'subagent.spawned', {
        subagentId: agent,
        subagentName: 'explore',
        parentToolCallId: call ?? '',
        description: `look ${ids}`,
        runInBackground: background,
        // A subagent without a task is a member of a swarm.
        ...(named ? { taskId } : { swarmIndex: 1 + (ids % 3) }),
      }),
      event('main', 'subagent.started', { subagentId: agent }),
      event(agent, 'turn.started', { turnId, promptId, origin, prompt: 'look around' }),
      entered,
    ]);
    if (!background && named && chance(0.2)) log.append(backgroundStart(agent, taskId, parent));
  }

  function backgroundStart(agentId: string, taskId: string, parent: { parentToolCallId?: string }): Draft[] {
    const info = {
      kind: 'agent' as const,
      taskId,
      description: 'look',
      status: 'running' as const,
      detached: true,
      startedAt: 1,
      endedAt: null,
      agentId,
      subagentType: 'explore',
      ...parent,
    };
    return [event('main', 'task.started', { info }), event('main', 'background.task.started', { info })];
  }

  /** Continues the agent's turn, then ends it, and its task if it has one. */
  function workOn(agent: string): void {
    const turn = turnOf(agent);
    if (!turn && chance(0.2)) {
      log.append([event('main', 'subagent.suspended', { subagentId: agent, reason: `full ${ids}` })]);
      log.append([event('main', 'subagent.started', { subagentId: agent })]);
    } else if (!turn) endSubagent(agent, chance(0.7) ? 'completed' : 'failed');
    else if (!turn.step) {
      const { turnId } = turn;
      log.append([event(agent, 'turn.step.started', { turnId, step: 1, stepId: id('step') })]);
    } else if (chance(0.2)) {
      const { turnId, step } = turn;
      log.append([
        event(agent, 'turn.step.interrupted', { turnId, step: step.step, stepId: step.stepId, reason: 'aborted' }),
        event(agent, 'turn.ended', { turnId, reason: 'cancelled', durationMs: 1, interruptReason: 'user_cancelled' }),
        event(agent, 'prompt.aborted', { promptId: turn.promptId ?? '', abortedAt: AT }),
      ]);
      endSubagent(agent, 'aborted');
    } else {
      const { turnId, step } = turn;
      const at = { turnId, step: step.step, stepId: step.stepId };
      const said = text();
      const parts: Part[] = [{ type: 'text', text: said }];
      log.volatile(agent, 'assistant.delta', { turnId, delta: said });
      log.append([
        internal(agent, 'step.response', { ...at, parts, calls: [], model: 'm1', usage }),
        event(agent, 'turn.step.completed', { ...at, usage, finishReason: 'end_turn' }),
        event(agent, 'turn.ended', { turnId, reason: 'completed', durationMs: 1 }),
        event(agent, 'prompt.completed', { promptId: turn.promptId ?? '', finishedAt: AT, reason: 'completed' }),
      ]);
    }
  }

  function endSubagent(agent: string, how: 'completed' | 'failed' | 'aborted'): void {
    const end =
      how === 'completed'
        ? event('main', 'subagent.completed', { subagentId: agent, resultSummary: 'all fine', usage })
        : event(
            'main',
            'subagent.failed',
            { subagentId: agent, error: 'no' },
            how === 'aborted' ? { aborted: true } : undefined,
          );
    const task = runningTasks(log.state.tasks).find(({ info }) => info.kind === 'agent' && info.agentId === agent);
    const status = how === 'aborted' ? ('killed' as const) : how;
    const info = task && { ...task.info, status, endedAt: 9 };
    log.append([
      end,
      ...(info
        ? [
            event('main', 'task.terminated', { info }, { outputTail: '' }),
            event('main', 'background.task.terminated', { info }),
          ]
        : []),
    ]);
  }

  async function idle(): Promise<void> {
    const choice = Math.floor(random() * 19);
    if (choice < 5) startTurn();
    else if (choice === 12) startOtherTurn();
    else if (choice === 13) log.append([event('main', 'warning', { message: 'careful', code: 'c' })]);
    else if (choice === 14) {
      const maxContextTokens = chance(0.3) ? null : 1000 * ids;
      log.append([internal('main', 'agent.config', { maxContextTokens })]);
    } else if (choice === 15) {
      if (!takeQueued()) startTurn();
    } else if (choice === 5 || choice === 18) undo();
    else if (choice >= 16) goal();
    else if (choice === 6) await compact();
    else if (choice === 7) {
      if (openSubagents().length > 0 && chance(0.5)) subagent();
      else task();
    } else if (choice === 8) log.append([chance(0.4) ? swarmChange() : planChange()]);
    else if (choice === 9)
      log.append([internal('main', 'turn.skipped', { turnId: countersOf(log.state.counters, 'main').nextTurnId })]);
    else if (choice === 10)
      log.append([internal('main', 'agent.config', { thinkingEffort: chance(0.5) ? 'high' : 'low' })]);
    else log.append([add([notification()], 'input')]);
  }

  /** Sets, counts, moves, completes or cancels the goal. */
  function goal(): void {
    const state = goalProjection.of(log.state.features);
    const present = goalAt(state, 5_000);
    const turnId = state.turn?.turnId;
    if (!present) {
      log.append([created(newGoal(id('goal'), `goal ${ids}`, chance(0.5) ? 'all green' : undefined), turnId)]);
    } else if (present.status !== 'active') log.append([moved(present, 'active', { actor: 'user' })]);
    else {
      const changes: Draft[][] = [
        [budgeted(withBudgets(present, { tokenBudget: 3 * ids }))],
        [counted(withUsage(present, { turnsUsed: present.turnsUsed + 1 }), turnId ?? 0)],
        [moved(present, 'blocked', { actor: 'runtime', reason: 'used up' })],
        completed(present),
        [cleared(), ...(state.turn ? [] : [add([cancelledReminder()], 'reminder')])],
      ];
      log.append(changes[Math.floor(random() * changes.length)] ?? []);
    }
  }

  function swarmChange(): Draft {
    const on = swarmTrigger(log.state.features, 'main') !== undefined;
    return on ? internal('main', 'swarm.left', {}) : internal('main', 'swarm.entered', { trigger: 'manual' });
  }

  function planChange(): Draft {
    return planning() === undefined
      ? internal('main', 'plan.entered', { id: id('plan'), trigger: 'tool' })
      : internal('main', 'plan.left', { how: chance(0.5) ? 'exit' : 'cancel' });
  }

  async function step(): Promise<void> {
    const turn = turnOf();
    if (hooked !== undefined) {
      if (chance(0.2)) queuePrompt();
      else endHook(hooked);
    } else if (turn?.step) {
      const aside = random();
      if (aside < 0.08) {
        if (chance(0.4) || !steer()) queuePrompt();
      } else if (aside > 0.95) goal();
      else if (aside < 0.2 && turn.step.calls.size > 0) subagent();
      else if (aside < 0.15 && running().length > 0) log.append(endTask());
      else inStep(turn.turnId, turn.step.step, turn.step.stepId, turn.step.calls);
    } else if (turn) {
      if (chance(0.04)) await compact(turn.turnId);
      else if (chance(0.3) && newest?.turnId === turn.turnId) log.append(endTurn(turn.turnId));
      else startStep(turn.turnId);
    } else await idle();
  }

  return { step };
}

/** Claims the log and appends an `agent.created` and `lines` random lines, each flushed. */
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
