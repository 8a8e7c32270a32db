/**
 * Fuzz target: lines of the input of `run`. A line is accepted only if it is an answer, whose members are those of the
 * line; every other line has a reason, whichever characters it contains.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { parseAnswer } from '../../clients/run/answers.ts';
import { integer, pick, type Random } from '#support/random.ts';

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
const DAMAGE = ['{', '}', '[', ']', '"', ',', ':', '\\', '\0', '\r', '\u2028', 'null', '1e999', '-', ' '];

function randomValue(random: Random, depth = 0): unknown {
  const kind = integer(random, depth > 3 ? 6 : 8);
  if (kind === 0) return null;
  if (kind === 1) return random() < 0.5;
  if (kind === 2) return integer(random, 1000) - 500;
  if (kind < 6) return pick(random, [...TEXTS, ...DECISIONS, ...KINDS, 'session']);
  const values = Array.from({ length: integer(random, 4) }, () => randomValue(random, depth + 1));
  if (kind === 6) return values;
  return Object.fromEntries(values.map((value) => [pick(random, [...MEMBERS, ...TEXTS]), value]));
}

function validAnswer(random: Random): Record<string, unknown> {
  const id = `id_${integer(random, 100)}`;
  if (random() < 0.5) {
    return {
      approval_id: id,
      decision: pick(random, DECISIONS),
      ...(random() < 0.5 && { scope: 'session' }),
      ...(random() < 0.5 && { feedback: pick(random, TEXTS) }),
    };
  }
  const answers = [
    { kind: 'single', option_id: id },
    { kind: 'multi', option_ids: [id] },
    { kind: 'other', text: pick(random, TEXTS) },
    { kind: 'multi_with_other', option_ids: [], other_text: pick(random, TEXTS) },
    { kind: 'skipped' },
  ];
  return { question_id: id, ...(random() < 0.8 && { answers: { q_0: pick(random, answers) } }) };
}

function damaged(random: Random, text: string): string {
  const at = integer(random, text.length + 1);
  const removed = integer(random, 4);
  return text.slice(0, at) + (random() < 0.5 ? pick(random, DAMAGE) : '') + text.slice(at + removed);
}

/** Whether a value has the members that each answer has. */
function hasAnswer(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if ('question_id' in value) return typeof value.question_id === 'string' && value.question_id !== '';
  if (!('approval_id' in value) || typeof value.approval_id !== 'string' || value.approval_id === '') return false;
  return 'decision' in value && DECISIONS.some((decision) => decision === value.decision);
}

/** One case. Throws when a line is accepted that is no answer, or a valid answer is refused or changed. */
export function runInput(random: Random): void {
  const valid = validAnswer(random);
  deepStrictEqual(parseAnswer(JSON.stringify(valid)), valid);

  const changed = random() < 0.5 ? { ...valid, [pick(random, MEMBERS)]: randomValue(random) } : randomValue(random);
  const text = JSON.stringify(changed);
  const line = random() < 0.5 ? damaged(random, text) : text;
  const parsed = parseAnswer(line);
  if (typeof parsed === 'string') {
    if (parsed === '') throw new Error(`refused without a reason: ${line}`);
    return;
  }
  const value: unknown = JSON.parse(line);
  if (!hasAnswer(value)) throw new Error(`accepted: ${line}`);
  deepStrictEqual(JSON.parse(JSON.stringify(parsed)), value, line);
}
