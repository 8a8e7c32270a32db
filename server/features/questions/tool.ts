/** AskUserQuestion: the model asks the user and waits for the answer. */
import * as z from 'zod';
import { defineTool, ToolInputError, type RunContext, type Tool, type ToolResult } from '#server/tools/tool.ts';

export const ASK_USER_QUESTION = 'AskUserQuestion';

const HEADER_CHARS = 12;

const parameters = z.object({
  questions: z
    .array(
      z.object({
        question: z.string().min(1).describe('The question, whole; each text once.'),
        header: z.string().optional().describe(`A word or two above the question, at most ${HEADER_CHARS} characters.`),
        options: z
          .array(
            z.object({
              label: z.string().min(1).describe('What the user picks; each label once in a question.'),
              description: z.string().optional().describe('What picking it means.'),
            }),
          )
          .min(2)
          .max(4)
          .describe('Do not add an "other": the user can always answer in their own words.'),
        multi_select: z.boolean().optional().describe('Several options may be picked.'),
      }),
    )
    .min(1)
    .max(4),
  background: z
    .boolean()
    .optional()
    .describe('Go on without waiting: you are notified of the answers. For what you do not need at once.'),
});

/** A question in the tool's arguments. */
export type AskedItem = z.output<typeof parameters>['questions'][number];

const DESCRIPTION = `Ask the user up to 4 questions and wait for the answers.

Use it when a decision is the user's to take and you cannot find the answer yourself. The result is JSON: question text to the chosen label, labels joined by commas, or the user's own words; it is empty with a note when the user dismissed the questions.`;

const repeated = (texts: string[]) => texts.find((text, place) => texts.indexOf(text) !== place);

function assertUnique(questions: AskedItem[]): void {
  const question = repeated(questions.map((item) => item.question));
  if (question !== undefined) throw new ToolInputError(`The question "${question}" is asked twice.`);
  for (const { options } of questions) {
    const label = repeated(options.map((option) => option.label));
    if (label !== undefined) throw new ToolInputError(`The label "${label}" stands twice in a question.`);
  }
}

type Ask = (questions: AskedItem[], context: RunContext) => Promise<ToolResult>;

/** Returns the title of the questions, one line. */
export function questionsTitle([first, ...more]: AskedItem[]): string {
  return `${first?.question ?? ''}${more.length > 0 ? ` (+${more.length} more)` : ''}`;
}

/**
 * Creates the tool. `ask` waits for the user and records the call's end together with the answer; `askAside` runs a
 * background task instead.
 */
export function createAskUserQuestionTool({ ask, askAside }: { ask: Ask; askAside: Ask }): Tool {
  return defineTool({
    name: ASK_USER_QUESTION,
    permission: 'free',
    effects: 'none',
    mainOnly: true,
    description: DESCRIPTION,
    parameters,
    prepare({ questions, background }) {
      assertUnique(questions);
      return {
        accesses: [],
        label: `Asking: ${questionsTitle(questions)}`,
        subject: { match: 'literal' },
        run: (context) => (background ? askAside : ask)(questions, context),
      };
    },
  });
}
