/** The cut of an undo, and the state that it restores, below HTTP. */
import { describe, expect, it } from 'vitest';
import { created, cleared } from '#server/features/goals/records.ts';
import { newGoal } from '#server/features/goals/goal.ts';
import { goalProjection } from '#server/features/goals/projection.ts';
import { cancelledReminder } from '#server/features/goals/reminders.ts';
import { planOf, plans } from '#server/features/plan-mode/projection.ts';
import { cutOf } from '#server/agent/undo/cut.ts';
import { undoTurns } from '#server/agent/undo/undo.ts';
import { readContext, type ContextEntry } from '#server/journal/projections/context.ts';
import { entering, internal } from '#server/journal/records.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { openTalk, scriptedModel, textOf, type ModelAnswer } from '#support/agent-session.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

type Entry = Pick<ContextMessage, 'role' | 'origin' | 'id'>;
const entry = ({ role, origin, id }: Entry): ContextEntry => ({
  message: { role, content: [], toolCalls: [], ...(origin ? { origin } : {}), ...(id === undefined ? {} : { id }) },
});
const user = (id: string) => entry({ role: 'user', origin: { kind: 'user' }, id });
const answer = entry({ role: 'assistant' });
const injected = (ownerPromptId?: string) =>
  entry({ role: 'user', origin: { kind: 'injection', variant: 'v', ...(ownerPromptId ? { ownerPromptId } : {}) } });
const hookText = (ownerPromptId: string) =>
  entry({ role: 'user', origin: { kind: 'hook_result', event: 'UserPromptSubmit', ownerPromptId } });
const task = entry({ role: 'user', origin: { kind: 'task', taskId: 't', status: 'completed', notificationId: 'n' } });
const summary = entry({ role: 'user', origin: { kind: 'compaction_summary' } });
const skill = (trigger: 'user-slash' | 'model-tool') =>
  entry({ role: 'user', origin: { kind: 'skill_activation', activationId: 'a', skillName: 's', trigger } });

describe('the cut', () => {
  const at = (entries: ContextEntry[], count = 1, barrier = 0) => cutOf({ entries, barrier }, count);

  it('counts messages that opened turns and steered ones, from the end', () => {
    const entries = [user('a'), answer, injected(), user('b'), answer, task, answer, user('c'), answer];
    expect(at(entries)).toEqual({ start: 7, remaining: 3 });
    expect(at(entries, 2)).toEqual({ start: 3, remaining: 0 });
    expect(at(entries, 3)).toEqual({ start: 0, remaining: -1 });
  });

  it('includes messages directly before the oldest prompt only if they belong to it', () => {
    expect(at([user('a'), answer, hookText('b'), injected('b'), user('b'), answer])).toMatchObject({ start: 2 });
    expect(at([user('a'), answer, hookText('a'), user('b'), answer])).toMatchObject({ start: 3 });
    expect(at([user('a'), hookText('b'), injected(), user('b')])).toMatchObject({ start: 3 });
  });

  it('counts skills that the user called, not those of the model', () => {
    expect(at([user('a'), skill('user-slash'), answer])).toEqual({ start: 1, remaining: 0 });
    expect(at([user('a'), skill('model-tool'), answer])).toEqual({ start: 0, remaining: -1 });
  });

  it('refuses with the number of turns that could be undone', () => {
    const refused = (data: object) => expect.objectContaining({ code: 40911, data });
    const two = [user('a'), answer, user('b'), answer];
    expect(() => at([], 1)).toThrow(refused({ reason: 'empty', requestedCount: 1, undoableCount: 0 }));
    expect(() => at([answer, task], 2)).toThrow(refused({ reason: 'empty', requestedCount: 2, undoableCount: 0 }));
    expect(() => at(two, 3)).toThrow(refused({ reason: 'insufficient', requestedCount: 3, undoableCount: 2 }));
    const compacted = [user('a'), summary, user('b'), answer];
    expect(at(compacted, 1, 2)).toEqual({ start: 2, remaining: 0 });
    expect(() => at(compacted, 2, 2)).toThrow(
      refused({ reason: 'compaction_boundary', requestedCount: 2, undoableCount: 1 }),
    );
    expect(() => at([user('a'), summary], 1, 2)).toThrow(
      refused({ reason: 'compaction_boundary', requestedCount: 1, undoableCount: 0 }),
    );
  });
});

const folder = useTemporaryFolder();

async function talkOf(...answers: ModelAnswer[]) {
  const model = scriptedModel(...answers);
  const talk = await openTalk({ dir: folder.path, services: model.services });
  const undo = (count = 1) => undoTurns(talk.session.context, count, textOf);
  return { ...talk, requests: model.requests, undo };
}

it('results in the same session as before the turn', async () => {
  const talk = await talkOf({ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' });
  await talk.turn('first');
  const before = structuredClone(readContext(talk.log.state.context, 'main').entries.map(({ message }) => message));
  await talk.turn('second');
  await talk.undo();
  expect(readContext(talk.log.state.context, 'main').entries.map(({ message }) => message)).toEqual(before);
  expect(talk.log.state.index.lastPrompt).toBe('first');
  expect((await talk.lines()).at(-1)).toEqual(['context.spliced', 'session.meta.updated', 'context.undone']);
  await talk.turn('third');
  expect(
    talk.requests
      .at(-1)
      ?.messages.map(textOf)
      .filter((text) => /^(first|second|third)$/.test(text)),
  ).toEqual(['first', 'third']);
  // Ids of turns are not reused.
  expect(talk.log.state.counters.agents.get('main')?.nextTurnId).toBe(3);
  await talk.close();
});

it('restores the previous plan mode', async () => {
  const talk = await talkOf({ text: 'One.' }, { text: 'Two.' });
  const plan = () => planOf(plans.of(talk.log.state.features), 'main');
  await talk.turn('first');
  talk.log.append([internal('main', 'plan.entered', { id: 'calm-lake-1', trigger: 'profile' })]);
  await talk.turn('second');
  expect(plan()).toMatchObject({ active: true, lastReminder: 'on' });
  await talk.undo();
  // The mode was entered before the undone prompt, so it stays; the reminder was removed with the turn.
  expect(plan()).toMatchObject({ active: true, entered: true });
  expect(plan().lastReminder).toBeUndefined();
  await talk.undo();
  expect(plan().active).toBe(false);
  await talk.close();
});

it('does not change the goal, and repeats its reminder', async () => {
  const talk = await talkOf({ text: 'One.' }, { text: 'Two.' });
  const { log } = talk;
  const state = () => goalProjection.of(log.state.features);
  await talk.turn('first');
  log.append([created(newGoal('goal_1', 'ship it', undefined))]);
  await talk.turn('second');
  log.append([cleared(), entering('main', [cancelledReminder()], { cause: 'reminder' })]);
  expect(state().cancelUnreported).toBe(false);
  await talk.undo();
  expect(state()).toMatchObject({ goal: undefined, cancelUnreported: true });
  // Before that turn the model had no reminder of a goal.
  await talk.undo();
  expect(state()).toMatchObject({ goal: undefined, cancelUnreported: false });
  await talk.close();
});
