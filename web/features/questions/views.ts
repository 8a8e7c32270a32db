/** View of a call that asks questions: the questions with their answers. */
import { t } from '../../messages/messages.ts';
import { firstLine, textOf, type Args, type ToolSummary, type ToolViews } from '../../render/tool-view.ts';
import { isObject } from '../../state/is-object.ts';
import { outputText } from '../../state/tool-call.ts';

export interface AskedQuestion {
  question: string;
  /** Undefined if it was skipped. */
  answer?: string | undefined;
}
export type AskedBody = { kind: 'asked'; questions: AskedQuestion[]; over: boolean };

function asked(args: Args, output: string | undefined): ToolSummary {
  const texts = questionsOf(args);
  const answers = output === undefined ? {} : answersIn(output);
  const questions = texts.map((question) => ({ question, answer: answers?.[question] }));
  const more = texts.length > 1 ? t('questions.more', { count: texts.length - 1 }) : '';
  const body: AskedBody = { kind: 'asked', questions, over: output !== undefined };
  return {
    verb: t('tools.ask'),
    subject: firstLine(texts[0] ?? '') + more,
    prose: true,
    body: texts.length ? body : undefined,
    opens: 'always',
    effect: 'asks',
    // A result without a set of answers (a background task's, say) is displayed.
    ...(answers && { output: 'on failure' }),
  };
}

function questionsOf({ questions }: Args): string[] {
  if (!Array.isArray(questions)) return [];
  return questions.flatMap((item: unknown) => (isObject(item) ? textOf(item, 'question') || [] : []));
}

/** The answers in a result, by the text of their question. */
function answersIn(output: string): Record<string, string> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(output);
  } catch {
    return undefined;
  }
  if (!isObject(value) || !isObject(value['answers'])) return undefined;
  const { answers } = value;
  return Object.fromEntries(
    Object.entries(answers).flatMap(([question, answer]) => (typeof answer === 'string' ? [[question, answer]] : [])),
  );
}

export const questionViews: ToolViews = {
  tools: {
    AskUserQuestion: (args, { output }) => asked(args, output === undefined ? undefined : outputText(output)),
  },
};
