/** Answers the approvals and questions of a run: rejects them, or passes them to the program that runs it. */
import {
  ApiError,
  type Approval,
  type Display,
  type EventFrame,
  type Question,
  type ResolveApproval,
  type Rest,
} from '@service-code/client';
import type { AnswerLine } from './answers.ts';

/** Codes of an answer that comes after another client's, or after the end. */
const ANSWERED = [40902, 40404, 40405, 41001, 41002];
const DISMISSED = 40909;
const FEEDBACK =
  'This session runs without a person who could approve calls. Do not repeat the call; continue without it.';

export interface DeniedCall {
  tool: string;
  subject: string;
}

/** The part of a call that a person would read first. */
function subjectOf(action: string, display: Display): string {
  switch (display.kind) {
    case 'command':
      return display.command;
    case 'file_io':
    case 'diff':
      return display.path;
    case 'url_fetch':
      return display.url;
    default:
      return action;
  }
}

type ApprovalFacts = Pick<Approval, 'approval_id' | 'tool_name' | 'action' | 'tool_input_display'>;
type QuestionFacts = Pick<Question, 'question_id'>;

export interface RequestHandler {
  readonly denied: readonly DeniedCall[];
  /** Receives the events of the run's own turn. */
  onEvent(frame: EventFrame): void;
  /** Receives a request whose event may have been missed; returns whether it is new. */
  onApproval(approval: ApprovalFacts): boolean;
  onQuestion(question: QuestionFacts): boolean;
  /** An answer of the program that runs this one; throws ApiError when the server refuses it. */
  answer(line: AnswerLine): Promise<void>;
  /** From now on each request is rejected, as are the pending ones. */
  denyAll(): void;
}

export interface RequestOptions {
  rest: Rest;
  sessionId: string;
  /** Whether the program that runs this one answers. */
  isAnswered: boolean;
  onError(error: unknown): void;
}

export function createRequestHandler({ rest, sessionId, isAnswered, onError }: RequestOptions): RequestHandler {
  const denied: DeniedCall[] = [];
  const pending = new Map<string, () => Promise<void>>();
  /** Requests of approvals and questions so far. */
  const known = new Set<string>();
  /** Calls whose approval was requested and not resolved yet. */
  const calls = new Map<string, DeniedCall>();
  let denies = !isAnswered;

  async function dismiss(question_id: string): Promise<void> {
    const path = { session_id: sessionId, question_id };
    try {
      await rest.request('POST /api/v1/sessions/{session_id}/questions/{question_id}:dismiss', { path });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== DISMISSED) throw error;
    }
  }

  function run(refuse: () => Promise<void>) {
    refuse().catch((error: unknown) => {
      if (!(error instanceof ApiError) || !ANSWERED.includes(error.code)) onError(error);
    });
  }

  /** Returns whether the request is new. */
  function onRequest(id: string, refuse: () => Promise<void>): boolean {
    if (known.has(id)) return false;
    known.add(id);
    if (denies) run(refuse);
    else pending.set(id, refuse);
    return true;
  }

  function onApproval({ approval_id: id, tool_name: tool, action, tool_input_display: display }: ApprovalFacts) {
    const isNew = onRequest(id, () => resolve(id, { decision: 'rejected', feedback: FEEDBACK }));
    if (isNew) calls.set(id, { tool, subject: subjectOf(action, display) });
    return isNew;
  }

  const onQuestion = ({ question_id: id }: QuestionFacts) => onRequest(id, () => dismiss(id));

  async function resolve(id: string, body: ResolveApproval): Promise<void> {
    await rest.resolveApproval(sessionId, id, body);
    // Its event may be among those that the server cannot send.
    resolved(id, body.decision);
  }

  function resolved(id: string, decision: ResolveApproval['decision']): void {
    pending.delete(id);
    const call = calls.get(id);
    if (call && decision !== 'approved') denied.push(call);
    calls.delete(id);
  }

  return {
    denied,
    onEvent({ payload }) {
      if (payload.type === 'event.approval.requested') onApproval(payload);
      else if (payload.type === 'event.approval.resolved') resolved(payload.approval_id, payload.decision);
      else if (payload.type === 'event.question.requested') onQuestion(payload);
      else if (payload.type === 'event.question.answered' || payload.type === 'event.question.dismissed') {
        pending.delete(payload.question_id);
      }
    },
    onApproval,
    onQuestion,
    async answer(line) {
      if ('approval_id' in line) {
        const { approval_id, ...body } = line;
        await resolve(approval_id, body);
      } else if (line.answers === undefined) await dismiss(line.question_id);
      else {
        await rest.request('POST /api/v1/sessions/{session_id}/questions/{question_id}', {
          path: { session_id: sessionId, question_id: line.question_id },
          body: { answers: line.answers },
        });
      }
    },
    denyAll() {
      denies = true;
      for (const refuse of pending.values()) run(refuse);
      pending.clear();
    },
  };
}
