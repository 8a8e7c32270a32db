/** The goal on the page: its texts, the views of its calls, its requests. */
import { describe, expect, it } from 'vitest';
import { createRest, type Goal } from '@service-code/client';
import { controlGoal, readGoal, setGoal } from '../../../web/features/goals/requests.ts';
import { goalViews, stateWord, usedOf } from '../../../web/features/goals/views.ts';
import { createToolViews } from '../../../web/render/tool-view.ts';
import { noBudget } from '#support/goals.ts';

const goal: Goal = {
  goalId: 'g',
  objective: 'Ship it',
  status: 'active',
  turnsUsed: 1,
  tokensUsed: 1234,
  wallClockMs: 65_000,
  budget: noBudget,
};

describe('in words', () => {
  it('is its state, and the used part of its budget', () => {
    expect(stateWord(goal)).toBe('Goal');
    expect(stateWord({ status: 'blocked' })).toBe('Goal blocked');
    expect(usedOf(goal)).toEqual(['1 turn', '1,234 tokens', '1 min']);
    const budget = { ...goal.budget, turnBudget: 3, tokenBudget: 5000, wallClockBudgetMs: 3_900_000 };
    expect(usedOf({ ...goal, budget })).toEqual(['1 of 3 turns', '1,234 of 5,000 tokens', '1 min of 1 h 5 min']);
  });

  it('draws the calls, for arguments of any type', () => {
    const views = createToolViews([goalViews]);
    const of = (name: string, input: unknown) => views.ofCall({ name, input, output: undefined });
    expect(of('CreateGoal', { objective: 'Ship\nit' })).toMatchObject({
      subject: 'Ship …',
      body: { objective: 'Ship\nit' },
    });
    expect(of('CreateGoal', { objective: 7 })).toMatchObject({ subject: '' });
    expect(of('SetGoalBudget', { value: 3, unit: 'turns' }).subject).toBe('3 turns');
    expect(of('SetGoalBudget', {}).subject).toBe('');
    expect(of('UpdateGoal', { status: 'complete' }).subject).toBe('complete');
    const display = {
      kind: 'goal_start' as const,
      objective: 'Ship',
      completionCriterion: 'green',
      mode: 'manual' as const,
    };
    expect(views.ofDisplay('CreateGoal', display)).toMatchObject({ body: { completionCriterion: 'green' } });
  });
});

it('is read and changed over the profile', async () => {
  const sent: [string, string, unknown][] = [];
  const rest = createRest({
    baseUrl: 'http://127.0.0.1:1/',
    token: () => undefined,
    fetch: (url, init) => {
      sent.push([init?.method ?? '', new URL(String(url)).pathname, init?.body]);
      return Promise.resolve(new Response(JSON.stringify({ code: 0, data: goal })));
    },
  });
  expect(await readGoal(rest, 'a/b')).toEqual(goal);
  await setGoal(rest, 's', 'Ship it');
  await controlGoal(rest, 's', 'pause');
  expect(sent).toEqual([
    ['GET', '/api/v1/sessions/a%2Fb/goal', undefined],
    ['POST', '/api/v1/sessions/s/profile', '{"agent_config":{"goal_objective":"Ship it"}}'],
    ['POST', '/api/v1/sessions/s/profile', '{"agent_config":{"goal_control":"pause"}}'],
  ]);
});
