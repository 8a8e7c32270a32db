/** Questions to the user: asked by a tool call, answered or dismissed by any client, closed with their turn. */
import { randomUUID } from 'node:crypto';
import type { Feature, LiveFeature } from '#server/agent/feature.ts';
import type { SessionContext } from '#server/agent/context.ts';
import { invalidField } from '#server/errors/service-error.ts';
import { event, type EndCause } from '#server/journal/records.ts';
import type { LogState } from '#server/journal/fold.ts';
import type { AddedStep } from '#server/permissions/policy.ts';
import type { RunContext, ToolResult } from '#server/tools/tool.ts';
import type { AnswerQuestion, Question } from '#schema/interaction.ts';
import { iso } from '#schema/scalars.ts';
import { answerTexts } from './answers.ts';
import { ASK_USER_QUESTION, createAskUserQuestionTool, type AskedItem } from './tool.ts';
import { questionResult } from './result.ts';
import { questionsTranscript } from './transcript.ts';

/** What the asking tool waits for: question text to answer, or that it was dismissed. */
type Outcome = { answers: Record<string, string> } | 'dismissed';

export interface Questions extends LiveFeature {
  /** Throws what an answer to this id would throw: 40405, 40901, 40902, 41002. */
  assertPending(id: string): Promise<void>;
  /** Throws the same, and 50003. */
  answer(id: string, body: AnswerQuestion): Promise<{ resolved_at: string }>;
  /** Throws the same, and 50003. */
  dismiss(id: string): Promise<{ dismissed_at: string }>;
}

/** Of all agents, oldest first. */
export const pendingQuestions = (state: LogState): Question[] =>
  [...state.interactions.questions.values()].map(({ question }) => question);

/** Of all answers together: they become a tool result that is written at once. */
const ANSWERS_CHARS = 65_536;

const resultOf = (outcome: Outcome): ToolResult => ({
  output: questionResult(outcome === 'dismissed' ? {} : outcome.answers),
});

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
  const x = cause ? { cause } : undefined;
  if (outcome === 'dismissed') {
    return event(agentId, 'event.question.dismissed', { question_id, dismissed_at: iso(at) }, x);
  }
  const { answers } = outcome;
  return event(agentId, 'event.question.answered', { question_id, answers, resolved_at: iso(at) }, x);
}

/** Nobody is there to answer in auto mode. */
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
      unanswered: () => 'dismissed',
    });
    return resultOf(outcome);
  }

  const tools = [createAskUserQuestionTool(ask)];
  return {
    tools: () => tools,
    permissionSteps: [deniedInAuto],
    assertPending: kind.assertPending,
    async answer(id, { answers }) {
      const pending = session.log.state.interactions.questions.get(id);
      const texts = pending ? answerTexts(pending.question, answers) : {};
      if (JSON.stringify(texts).length > ANSWERS_CHARS) throw invalidField('answers', 'the answers are too long');
      return { resolved_at: iso(await kind.answer(id, { answers: texts })) };
    },
    async dismiss(id) {
      return { dismissed_at: iso(await kind.answer(id, 'dismissed')) };
    },
  };
}

export const questions: Feature<Questions> = {
  name: 'questions',
  transcript: questionsTranscript,
  snapshot: (state) => ({ pending_questions: pendingQuestions(state) }),
  open,
};
