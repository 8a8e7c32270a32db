/** Questions to the user: asked by a tool call, answered or dismissed by any client, closed with their turn. */
import { randomUUID } from 'node:crypto';
import type { Feature, LiveFeature } from '#server/agent/contract/feature.ts';
import type { SessionContext } from '#server/agent/contract/context.ts';
import { invalidField } from '#server/errors/service-error.ts';
import { event, type EndCause } from '#server/journal/records.ts';
import type { LogState } from '#server/journal/fold.ts';
import type { AddedStep } from '#server/permissions/policy.ts';
import { stopOf, type TaskEnd } from '#server/tasks/task.ts';
import type { RunContext, ToolResult } from '#server/tools/tool.ts';
import type { Caller } from '#schema/rest/caller.ts';
import type { TaskInfo } from '#schema/events/tasks.ts';
import type { AnswerQuestion, Question } from '#schema/rest/interaction.ts';
import { iso } from '#schema/scalars.ts';
import { answerTexts } from './answers.ts';
import { ASK_USER_QUESTION, createAskUserQuestionTool, questionsTitle, type AskedItem } from './tool.ts';
import { questionResult } from './result.ts';
import { questionsTranscript } from './transcript.ts';

/** The outcome that the tool call waits for. */
interface Outcome {
  /** Question text to answer; undefined when the questions were dismissed. */
  answers?: Record<string, string>;
  /** The client that answered; undefined if none did. */
  by?: Caller | undefined;
}

export interface Questions extends LiveFeature {
  /**
   * Throws the errors that an answer to this id would throw: `question.not_found`, `session.busy`,
   * `approval.already_resolved`, `question.expired`.
   */
  assertPending(id: string): Promise<void>;
  /** Answers a question. Throws like `assertPending`, and `persistence.failure`. */
  answer(id: string, body: AnswerQuestion, by?: Caller): Promise<{ resolved_at: string }>;
  /** Dismisses a question. Throws like `assertPending`, and `persistence.failure`. */
  dismiss(id: string, by?: Caller): Promise<{ dismissed_at: string }>;
}

/** Returns the pending questions of all agents, oldest first. */
export const pendingQuestions = (state: LogState): Question[] =>
  [...state.interactions.questions.values()].map(({ question }) => question);

/** Maximum length of all answers together, because they become one tool result, which is one record. */
const ANSWERS_CHARS = 65_536;

const resultText = ({ answers = {} }: Outcome) => questionResult(answers);
const resultOf = (outcome: Outcome): ToolResult => ({ output: resultText(outcome) });

/** The result of a call that does not wait for the answers. */
const askedText = ({ taskId, description }: TaskInfo) =>
  [
    `task_id: ${taskId}`,
    `description: ${description.replace(/\s+/g, ' ')}`,
    'status: running',
    'automatic_notification: true',
    'next_step: Go on with other work; you will be notified of the answers. Do not wait or poll for them.',
  ].join('\n');

function questionOf(id: string, session: SessionContext, items: AskedItem[], context: RunContext): Question {
  return {
    question_id: id,
    session_id: session.id,
    questions: items.map(({ question, header, options, multi_select }, i) => ({
      id: `q_${i}`,
      question,
      options: options.map(({ label, description }, j) => ({
        id: `opt_${i}_${j}`,
        label,
        ...(description ? { description } : {}),
      })),
      ...(header ? { header } : {}),
      ...(multi_select === undefined ? {} : { multi_select }),
      allow_other: true,
    })),
    created_at: iso(session.clock.now()),
    agent_id: context.agentId,
    turn_id: context.turnId,
    tool_call_id: context.toolCallId,
  };
}

function closing(agentId: string, question_id: string, outcome: Outcome, at: number, cause: EndCause | undefined) {
  const { answers, by } = outcome;
  const x = cause || by ? { ...(cause ? { cause } : {}), ...(by ? { by } : {}) } : undefined;
  if (!answers) {
    return event(agentId, 'event.question.dismissed', { question_id, dismissed_at: iso(at) }, x);
  }
  return event(agentId, 'event.question.answered', { question_id, answers, resolved_at: iso(at) }, x);
}

/** Denies questions in auto mode, in which no user answers. */
const deniedInAuto: AddedStep = {
  decide: ({ toolName }, { mode }) =>
    mode === 'auto' && toolName === ASK_USER_QUESTION
      ? { kind: 'deny', reason: 'Nobody answers questions in auto mode. Decide yourself and go on.' }
      : undefined,
};

function open(session: SessionContext): Questions {
  const kind = session.interactions.kind<Outcome>({
    noun: 'question',
    notFound: 'question.not_found',
    expired: 'question.expired',
  });

  async function ask(items: AskedItem[], context: RunContext): Promise<ToolResult> {
    const id = `question_${randomUUID()}`;
    const { agentId } = context;
    const outcome = await kind.ask({
      id,
      agentId,
      turnId: context.turnId,
      signal: context.signal,
      onAbort: 'close',
      opening: [event(agentId, 'event.question.requested', questionOf(id, session, items, context))],
      closing: (given, at, cause) => [closing(agentId, id, given, at, cause), ...context.finish(resultOf(given))],
      unanswered: () => ({}),
    });
    return resultOf(outcome);
  }

  /** Asks in a background task: the answer completes the task, and stopping the task dismisses the questions. */
  async function askAside(items: AskedItem[], context: RunContext): Promise<ToolResult> {
    const id = `question_${randomUUID()}`;
    const { agentId, toolCallId } = context;
    const { info } = await context.tasks.run(
      { kind: 'question', agentId, description: questionsTitle(items) },
      async (task) => {
        const { signal } = task;
        const asked = event(agentId, 'event.question.requested', questionOf(id, session, items, context), {
          taskId: task.id,
        });
        task.started(() => ({ kind: 'question', questionCount: items.length, toolCallId }), { after: [asked] });
        const endOf = (given: Outcome): TaskEnd =>
          signal.aborted ? { status: 'stopped' } : { status: 'completed', result: resultText(given) };
        const outcome = await kind.ask({
          id,
          agentId,
          signal,
          onAbort: 'close',
          abortCause: () => (stopOf(signal)?.by === 'close' ? 'disposed' : undefined),
          opening: [],
          closing: (given, at, cause) => [closing(agentId, id, given, at, cause), ...task.finish(endOf(given))],
          unanswered: () => ({}),
        });
        return endOf(outcome);
      },
    );
    return { output: askedText(info) };
  }

  const tools = [createAskUserQuestionTool({ ask, askAside })];
  return {
    tools: () => tools,
    permissionSteps: [deniedInAuto],
    assertPending: kind.assertPending,
    async answer(id, { answers }, by) {
      const pending = session.log.state.interactions.questions.get(id);
      const texts = pending ? answerTexts(pending.question, answers) : {};
      if (JSON.stringify(texts).length > ANSWERS_CHARS) throw invalidField('answers', 'the answers are too long');
      return { resolved_at: iso(await kind.answer(id, { answers: texts, by })) };
    },
    async dismiss(id, by) {
      return { dismissed_at: iso(await kind.answer(id, { by })) };
    },
  };
}

export const questions: Feature<Questions> = {
  name: 'questions',
  transcript: questionsTranscript,
  snapshot: (state) => ({ pending_questions: pendingQuestions(state) }),
  open,
};
