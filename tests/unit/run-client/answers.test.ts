import { describe, expect, it } from 'vitest';
import { parseAnswer } from '../../../clients/run/answers.ts';

describe('a line of the input', () => {
  it.each([
    { approval_id: 'a', decision: 'approved', scope: 'session' },
    { approval_id: 'a', decision: 'rejected', feedback: 'No.' },
    { approval_id: 'a', decision: 'approved', selected_label: 'First' },
    { question_id: 'q', answers: { q_0: { kind: 'single', option_id: 'opt_0_1' } } },
    { question_id: 'q', answers: { q_0: { kind: 'multi_with_other', option_ids: [], other_text: 'x' } } },
    // Dismisses the question.
    { question_id: 'q' },
  ])('answers a request: %j', (answer) => {
    expect(parseAnswer(JSON.stringify(answer))).toEqual(answer);
  });

  it.each([
    ['no JSON', 'the line is not JSON'],
    ['null', /^line: /],
    ['[]', /^line: |^approval_id: /],
    ['{"approval_id":"a"}', /^decision: /],
    ['{"approval_id":"","decision":"approved"}', /^approval_id: /],
    ['{"approval_id":"a","decision":"yes"}', /^decision: /],
    ['{"approval_id":"a","decision":"approved","scope":"always"}', /^scope: /],
    ['{"approval_id":"a","decision":"approved","more":1}', /more/],
    ['{"question_id":"q","answers":{"q_0":{"kind":"single"}}}', /^answers\.q_0\.option_id: /],
  ])('is refused with the member that is wrong: %s', (line, reason) => {
    expect(parseAnswer(line)).toMatch(reason);
  });
});

it('refuses an answer to an item __proto__, which would be lost', () => {
  expect(parseAnswer('{"question_id":"q","answers":{"__proto__":[]}}')).toBe("answers: no item has the id '__proto__'");
});
