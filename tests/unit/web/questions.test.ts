/** Questions on the page: open ones, sent answers, the view of a finished call. */
import { describe, expect, it } from 'vitest';
import { ApiError, ConnectionError, createRest } from '@service-code/client';
import {
  answerOf,
  answersOf,
  itemForKeys,
  noChoice,
  withNumber,
  withOption,
  withOther,
  type Item,
} from '../../../web/features/questions/answers.ts';
import { openQuestions, type Question } from '../../../web/features/questions/open.ts';
import { answerQuestion, dismissQuestion } from '../../../web/features/questions/requests.ts';
import { questionViews } from '../../../web/features/questions/views.ts';
import { createToolViews } from '../../../web/render/tool-view.ts';
import { asked, viewOf } from './transcripts.ts';

const options = (item: number) => ['A', 'B', 'C'].map((label, at) => ({ id: `opt_${item}_${at}`, label }));
const one: Item = { id: 'q_0', question: 'Which one?', options: options(0), allow_other: true };
const many: Item = { id: 'q_1', question: 'Which ones?', options: options(1), multi_select: true, allow_other: true };
const question = (id: string): Question => ({
  question_id: id,
  session_id: 'session_1',
  agent_id: 'main',
  tool_call_id: 't1',
  questions: [one, many],
});

describe('open questions', () => {
  const request = {
    id: 'question_1',
    agentId: 'agent-1',
    toolCallId: 't1',
    questions: [
      { question: 'Which one?', options: [{ label: 'A' }, { label: 'B', description: 'the other' }], header: 'Pick' },
      { question: 'Which ones?', options: [{ label: 'A' }], multiSelect: true, otherLabel: 'Else' },
    ],
  };
  const open = { interactionId: 'question_1', interactionKind: 'question' as const, toolCallId: 't1', request };

  it('are those of every agent until they are answered; ids of items and options are their indexes', () => {
    expect(openQuestions(viewOf([], { 'agent-1': [asked(open)] }))).toEqual([
      {
        question_id: 'question_1',
        session_id: 'session_1',
        agent_id: 'agent-1',
        tool_call_id: 't1',
        questions: [
          {
            id: 'q_0',
            question: 'Which one?',
            header: 'Pick',
            options: [
              { id: 'opt_0_0', label: 'A' },
              { id: 'opt_0_1', label: 'B', description: 'the other' },
            ],
          },
          {
            id: 'q_1',
            question: 'Which ones?',
            multi_select: true,
            other_label: 'Else',
            options: [{ id: 'opt_1_0', label: 'A' }],
          },
        ],
      },
    ]);
    for (const state of ['answered', 'dismissed'] as const)
      expect(openQuestions(viewOf([asked(open), asked({ ...open, state })]))).toEqual([]);
  });
});

describe('answers', () => {
  it('are one option, or a free text instead', () => {
    const picked = withOption(one, withOption(one, noChoice, 'opt_0_2'), 'opt_0_1');
    expect(answerOf(one, picked)).toEqual({ kind: 'single', option_id: 'opt_0_1' });
    const other = { ...withOther(one, picked, true), text: '  neither ' };
    expect(answerOf(one, other)).toEqual({ kind: 'other', text: 'neither' });
    expect(answerOf(one, withOption(one, other, 'opt_0_0'))).toEqual({ kind: 'single', option_id: 'opt_0_0' });
  });

  it('are several options in their order, in addition to a text', () => {
    const picked = ['opt_1_2', 'opt_1_1', 'opt_1_0', 'opt_1_1'].reduce(
      (choice, id) => withOption(many, choice, id),
      noChoice,
    );
    expect(answerOf(many, picked)).toEqual({ kind: 'multi', option_ids: ['opt_1_0', 'opt_1_2'] });
    const both = { ...withOther(many, picked, true), text: 'D' };
    expect(answerOf(many, both)).toEqual({
      kind: 'multi_with_other',
      option_ids: ['opt_1_0', 'opt_1_2'],
      other_text: 'D',
    });
    expect(answerOf(many, { ...noChoice, other: true, text: 'D' })).toEqual({
      kind: 'multi_with_other',
      option_ids: [],
      other_text: 'D',
    });
  });

  it('are selected by number, the one after the last option being the free text', () => {
    expect(answerOf(one, withNumber(one, noChoice, 2))).toEqual({ kind: 'single', option_id: 'opt_0_1' });
    expect(withNumber(one, noChoice, one.options.length + 1)).toMatchObject({ options: [], other: true });
    expect(withNumber(one, noChoice, 9)).toBe(noChoice);
    const chosen = { q_0: withNumber(one, noChoice, 1) };
    expect([itemForKeys([one, many], {}), itemForKeys([one, many], chosen), itemForKeys([one], chosen)]).toEqual([
      one,
      many,
      one,
    ]);
  });

  it('have a note as a text in addition to the option, because the model receives no other one', () => {
    const noted = { ...withOption(one, noChoice, 'opt_0_1'), note: ' but slowly ' };
    expect(answerOf(one, noted)).toEqual({
      kind: 'multi_with_other',
      option_ids: ['opt_0_1'],
      other_text: 'but slowly',
    });
    expect(answerOf(one, { ...noChoice, note: 'alone' })).toEqual({ kind: 'skipped' });
  });

  it('are skipped without a selection, or with a blank text', () => {
    expect(answersOf([one, many], { q_0: { ...noChoice, other: true, text: ' ' } })).toEqual({
      q_0: { kind: 'skipped' },
      q_1: { kind: 'skipped' },
    });
  });
});

describe('requests', () => {
  const sent: { url: string; method: string | undefined; body: unknown }[] = [];
  const replying = (code: number) =>
    createRest({
      baseUrl: 'http://127.0.0.1:1/base/',
      token: () => 'secret',
      fetch: (url, init) => {
        sent.push({
          url: String(url),
          method: init?.method,
          body: init?.body ? JSON.parse(String(init.body)) : undefined,
        });
        return Promise.resolve(new Response(JSON.stringify({ code, msg: 'said', data: null })));
      },
    });

  it('send answers and dismissals below the session', async () => {
    expect(await answerQuestion(replying(0), question('question_1'), { q_0: { kind: 'skipped' } })).toBe('taken');
    // A successful dismissal has the code `question.dismissed`.
    expect(await dismissQuestion(replying(40909), question('question_1'))).toBe('taken');
    const url = 'http://127.0.0.1:1/base/api/v1/sessions/session_1/questions/question_1';
    expect(sent.splice(0)).toEqual([
      { url, method: 'POST', body: { answers: { q_0: { kind: 'skipped' } } } },
      { url: `${url}:dismiss`, method: 'POST', body: undefined },
    ]);
  });

  it('report that another client was faster, and reject for any other error', async () => {
    for (const code of [40902, 40405, 41002]) {
      expect(await answerQuestion(replying(code), question('question_1'), {})).toBe('gone');
      expect(await dismissQuestion(replying(code), question('question_1'))).toBe('gone');
    }
    await expect(answerQuestion(replying(40901), question('question_1'), {})).rejects.toBeInstanceOf(ApiError);
    const away = createRest({
      baseUrl: 'http://127.0.0.1:1/',
      token: () => undefined,
      fetch: () => Promise.reject(new Error('away')),
    });
    await expect(dismissQuestion(away, question('question_1'))).rejects.toBeInstanceOf(ConnectionError);
  });
});

describe('a call that asks', () => {
  const { ofCall } = createToolViews([questionViews]);
  const input = { questions: [{ question: 'Which one?', options: [] }, { question: 'Which ones?' }] };
  const drawn = (output?: string, given: unknown = input) => ofCall({ name: 'AskUserQuestion', input: given, output });

  it('displays its questions, then the answers', () => {
    expect(drawn()).toMatchObject({
      verb: 'Ask',
      subject: 'Which one? (+1 more)',
      body: { over: false, questions: [{ question: 'Which one?', answer: undefined }, { question: 'Which ones?' }] },
    });
    expect(drawn('{"answers":{"Which one?":"A"}}')).toMatchObject({
      output: 'on failure',
      body: { over: true, questions: [{ answer: 'A' }, { answer: undefined }] },
    });
    expect(drawn('{"answers":{},"note":"dismissed"}').body).toMatchObject({ over: true });
  });

  it('accepts arguments and results of another form', () => {
    expect(drawn('task_id: question-1', { questions: 'all' })).toMatchObject({ subject: '', body: undefined });
    expect(drawn('task_id: question-1').output).toBeUndefined();
    expect(drawn('{"answers":[1]}', { questions: [null, { question: 7 }] }).body).toBeUndefined();
    expect(drawn('{"answers":{"Which one?":7}}').body).toMatchObject({ questions: [{ answer: undefined }, {}] });
  });
});
