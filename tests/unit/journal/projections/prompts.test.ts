import { expect, it } from 'vitest';
import { event, internal, type CompleteDraft } from '#server/journal/records.ts';
import { iso } from '#schema/scalars.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { folded } from './folded.ts';

const AT = iso(0);
const content = [{ type: 'text' as const, text: 'hello' }];
const submitted = (promptId: string, agent = 'main') =>
  event(agent, 'prompt.submitted', {
    promptId,
    userMessageId: promptId,
    status: 'running',
    content,
    createdAt: AT,
  });
const queued = (promptId: string) => event('main', 'prompt.queued', { promptId, content, queueLength: 1 });
const started = (promptId?: string) =>
  event('main', 'turn.started', {
    turnId: 0,
    origin: { kind: 'user' },
    ...(promptId === undefined ? {} : { promptId }),
  });
const completed = (promptId: string) =>
  event('main', 'prompt.completed', { promptId, finishedAt: AT, reason: 'completed' });
const aborted = (promptId: string) => event('main', 'prompt.aborted', { promptId, abortedAt: AT });
const message = (id: string, owner?: string): ContextMessage => ({
  role: 'user',
  content,
  toolCalls: [],
  ...(owner === undefined
    ? { id, origin: { kind: 'user' } }
    : { origin: { kind: 'injection', variant: 'x', ownerPromptId: owner } }),
});
const steered = (activePromptId: string, promptIds: string[], reminders?: ContextMessage[]) =>
  event(
    'main',
    'prompt.steered',
    { activePromptId, promptIds, messageId: promptIds[0] ?? '', content, steeredAt: AT },
    { message: message(promptIds[0] ?? ''), ...(reminders ? { reminders } : {}) },
  );
const spliced = (...messages: ContextMessage[]) =>
  event('main', 'context.spliced', { start: 0, deleteCount: 0, messages, tokens: 1 }, { cause: 'input' });

function prompts(...lines: (CompleteDraft | CompleteDraft[])[]) {
  const own = folded(...lines).prompts.get('main');
  return {
    active: own?.active,
    used: [...(own?.used ?? [])],
    open: Object.fromEntries([...(own?.open ?? [])].map(([id, { state }]) => [id, state])),
    entering: own?.entering.map(({ id, origin }) => id ?? origin?.kind),
  };
}

it('a prompt is accepted, waits, is active and settles, and its id is never free again', () => {
  expect(prompts(submitted('a'))).toEqual({ active: undefined, used: ['a'], open: { a: 'accepted' }, entering: [] });
  expect(prompts(submitted('a'), queued('a'))).toMatchObject({ open: { a: 'queued' } });
  expect(prompts(submitted('a'), queued('a'), started('a'))).toMatchObject({ active: 'a', open: { a: 'active' } });
  for (const settle of [completed, aborted]) {
    const after = prompts(submitted('a'), started('a'), settle('a'));
    expect(after).toEqual({ active: undefined, used: ['a'], open: {}, entering: [] });
  }
});

it('the origin of a prompt is known', () => {
  const own = folded(submitted('a'), { ...submitted('b'), x: { origin: { kind: 'user' } } } as CompleteDraft);
  const origins = [...(own.prompts.get('main')?.open.values() ?? [])].map((prompt) => prompt.origin);
  expect(origins).toEqual([undefined, { kind: 'user' }]);
});

it('a turn without a prompt changes none, and one of an unknown prompt makes its id active and used', () => {
  expect(prompts(submitted('a'), started())).toMatchObject({ active: undefined, open: { a: 'accepted' } });
  expect(prompts(started('instruction'))).toMatchObject({ active: 'instruction', used: ['instruction'], open: {} });
  expect(prompts(queued('unknown'), completed('unknown'))).toMatchObject({ open: {}, used: [] });
});

it('steered prompts settle with the active one, and with no other', () => {
  const lines = [submitted('a'), started('a'), submitted('b'), queued('b'), submitted('c'), steered('a', ['b'])];
  expect(prompts(...lines)).toMatchObject({ active: 'a', open: { a: 'active', b: 'steered', c: 'accepted' } });
  expect(prompts(...lines, aborted('c'))).toMatchObject({ active: 'a', open: { a: 'active', b: 'steered' } });
  expect(prompts(...lines, completed('a'))).toMatchObject({ active: undefined, open: { c: 'accepted' } });
});

it('a prompt that is steered into a turn without one becomes the prompt of that turn', () => {
  const lines = [submitted('a'), submitted('b'), started(), steered('a', ['a', 'b', 'unknown'])];
  expect(prompts(...lines)).toMatchObject({ active: 'a', open: { a: 'active', b: 'steered' } });
  // A turn that has a prompt keeps it.
  expect(prompts(submitted('a'), started('a'), submitted('b'), steered('b', ['b']))).toMatchObject({
    active: 'a',
    open: { a: 'active', b: 'steered' },
  });
});

it('steered messages enter once, each with its own reminders', () => {
  const lines = [
    started('x'),
    submitted('a'),
    submitted('b'),
    steered('x', ['a'], [message('', 'a')]),
    steered('x', ['b']),
  ];
  expect(prompts(...lines)).toMatchObject({ entering: ['injection', 'a', 'b'] });
  expect(prompts(...lines, spliced(message('other'), message('', 'b')))).toMatchObject({
    entering: ['injection', 'a', 'b'],
  });
  expect(prompts(...lines, spliced(message('a')))).toMatchObject({ entering: ['b'] });
  expect(prompts(...lines, spliced(message('a'), message('b')))).toMatchObject({ entering: [] });
});

it('a copy of the session has no open prompt, and the ids of all', () => {
  const copy = prompts(
    submitted('a'),
    started('a'),
    submitted('b'),
    internal('main', 'forked', { source: 's', kind: 'fork' }),
  );
  expect(copy).toMatchObject({ active: undefined, open: {}, used: ['a', 'b'] });
});
