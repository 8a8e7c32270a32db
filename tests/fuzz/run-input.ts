/**
 * Fuzz target: lines of the input of `run`. A line is accepted only if it is an answer, whose members are those of the
 * line; every other line has a reason, whichever characters it contains.
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import * as fc from 'fast-check';
import { parseAnswer } from '../../clients/run/answers.ts';
import { edited, sometimes, textEdits, valueEdits } from '#support/arbitraries.ts';

const DECISIONS = ['approved', 'rejected', 'cancelled'];
const KINDS = ['single', 'multi', 'other', 'multi_with_other', 'skipped'];
const TEXTS = [
  '',
  'x',
  'approval_1',
  '__proto__',
  'constructor',
  '\u0000',
  '\u2028',
  '{}',
  '"',
  '\\',
  'é',
  '💥',
  '\ud800',
];
const MEMBERS = [
  'approval_id',
  'question_id',
  'decision',
  'scope',
  'feedback',
  'selected_label',
  'answers',
  'kind',
  '__proto__',
  'toString',
];
const DAMAGE = ['', '{', '}', '[', ']', '"', ',', ':', '\\', '\0', '\r', '\u2028', 'null', '1e999', '-', ' '];

const ids = fc.nat(99).map((id) => `id_${id}`);
const texts = fc.constantFrom(...TEXTS);
const approvals = fc.record(
  {
    approval_id: ids,
    decision: fc.constantFrom(...DECISIONS),
    scope: fc.constant('session'),
    feedback: texts,
    selected_label: texts,
  },
  { requiredKeys: ['approval_id', 'decision'] },
);
const items = fc.oneof(
  fc.record({ kind: fc.constant('skipped') }),
  fc.record({ kind: fc.constant('single'), option_id: ids }),
  fc.record({ kind: fc.constant('multi'), option_ids: fc.array(ids, { minLength: 1, maxLength: 2 }) }),
  fc.record({ kind: fc.constant('other'), text: texts }),
  fc.record({
    kind: fc.constant('multi_with_other'),
    option_ids: fc.array(ids, { maxLength: 2 }),
    other_text: texts,
  }),
);
const questions = fc.record(
  { question_id: ids, answers: fc.dictionary(ids, items, { maxKeys: 2 }) },
  { requiredKeys: ['question_id'] },
);
const answers = fc.oneof(approvals, questions);
const values = fc.anything({
  key: fc.constantFrom(...MEMBERS, ...TEXTS),
  values: [fc.constant(null), fc.boolean(), fc.nat(), fc.constantFrom(...TEXTS, ...DECISIONS, ...KINDS, 'session')],
  maxKeys: 3,
  maxDepth: 4,
});

const json = (value: unknown): string => JSON.stringify(value);
const changed = fc.oneof(edited<unknown>(answers, valueEdits(values, MEMBERS)), values);
const lines = edited(changed.map(json), sometimes(2, textEdits(DAMAGE, 3)));

/** Whether a value has the members that each answer has. */
function hasAnswer(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if ('question_id' in value) return typeof value.question_id === 'string' && value.question_id !== '';
  if (!('approval_id' in value) || typeof value.approval_id !== 'string' || value.approval_id === '') return false;
  return 'decision' in value && DECISIONS.some((decision) => decision === value.decision);
}

/** Fails when a valid answer is refused or changed, or a line is accepted that is no answer. */
export const runInput = fc.property(answers.map(json), lines, (answer, line) => {
  deepStrictEqual(parseAnswer(answer), JSON.parse(answer));

  const parsed = parseAnswer(line);
  if (typeof parsed === 'string') return parsed !== '';
  const value: unknown = JSON.parse(line);
  ok(hasAnswer(value), 'accepted');
  deepStrictEqual(JSON.parse(JSON.stringify(parsed)), value);
  return true;
});
