/** Questions of an agent as forms. */
import type { ElicitationPropertySchema, ElicitationSchema } from '@agentclientprotocol/sdk';
import type { Question } from '@service-code/client';
import * as z from 'zod';

type Item = Question['questions'][number];
type Answer =
  | { kind: 'single'; option_id: string }
  | { kind: 'multi'; option_ids: string[] }
  | { kind: 'other'; text: string }
  | { kind: 'multi_with_other'; option_ids: string[]; other_text: string };

const otherId = ({ id }: Item) => `${id}_other`;

/** A field for the options of each question, and one for an answer in own words. */
export function formOf({ questions }: Question): ElicitationSchema {
  const properties: Record<string, ElicitationPropertySchema> = {};
  for (const item of questions) {
    const options = item.options.map(({ id, label, description }) => ({
      const: id,
      title: label,
      ...(description !== undefined && { description }),
    }));
    const shown = { title: item.header ?? item.question, description: item.question };
    properties[item.id] = item.multi_select
      ? { type: 'array', ...shown, items: { anyOf: options } }
      : { type: 'string', ...shown, oneOf: options };
    if (!item.allow_other) continue;
    const title = item.other_label ?? 'Other answer';
    properties[otherId(item)] = { type: 'string', title, description: item.other_description ?? item.question };
  }
  return { type: 'object', properties };
}

/** The question in front of the form. */
export const messageOf = ({ questions }: Question): string =>
  questions.map(({ question, body }) => (body === undefined ? question : `${question}\n\n${body}`)).join('\n\n');

const contentSchema = z.record(z.string(), z.unknown()).nullish();
const choiceSchema = z.string().min(1);
const choicesSchema = z.array(choiceSchema).min(1);

/** The answers of a submitted form; questions without an answer are skipped. */
export function answersOf({ questions }: Question, content: unknown): Record<string, Answer> {
  const { data: values } = contentSchema.safeParse(content);
  const answers: Record<string, Answer> = {};
  for (const item of questions) {
    const answer = answerOf(item, values ?? {});
    if (answer) answers[item.id] = answer;
  }
  return answers;
}

function answerOf(item: Item, values: Record<string, unknown>): Answer | undefined {
  const { data: other } = choiceSchema.safeParse(values[otherId(item)]);
  const { data: option_id } = choiceSchema.safeParse(values[item.id]);
  const { data: option_ids = option_id === undefined ? [] : [option_id] } = choicesSchema.safeParse(values[item.id]);
  if (item.multi_select) {
    if (other !== undefined) return { kind: 'multi_with_other', option_ids, other_text: other };
    return option_ids.length > 0 ? { kind: 'multi', option_ids } : undefined;
  }
  if (other !== undefined) return { kind: 'other', text: other };
  return option_id === undefined ? undefined : { kind: 'single', option_id };
}
