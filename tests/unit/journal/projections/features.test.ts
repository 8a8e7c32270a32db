/** Folds of features, as the core uses them. */
import { describe, expect, it } from 'vitest';
import { defineFeatureProjection, wakingFeatures } from '#server/journal/projections/feature-projection.ts';
import { isSettled, settleCrash } from '#server/journal/crash-recovery.ts';
import { event, type CompleteDraft } from '#server/journal/records.ts';
import { foldedWith, SESSION_ID } from './folded.ts';

const warning = (message: string) => event('main', 'warning', { message });
const turn = event('main', 'turn.started', { turnId: 0, origin: { kind: 'user' } });

/** Counts the records of a type. */
const counter = (name: string, type: CompleteDraft['type']) =>
  defineFeatureProjection<{ count: number; lastAt: number; session: string }>({
    name,
    initial: ({ session_id }) => ({ count: 0, lastAt: 0, session: session_id }),
    apply(state, record, t) {
      if (record.type !== type) return;
      state.count += 1;
      state.lastAt = t;
    },
    wakes: ({ count }) => count > 1,
    onCopy: ({ count }) => (count > 2 ? [warning('copied')] : []),
    settle: ({ count }, at) => (count > 0 ? [warning(`settled ${count} at ${at}`)] : []),
    settleTurn: ({ count }, agent) => (count > 0 ? [warning(`turn of ${agent}`)] : []),
  });
const plain = defineFeatureProjection({ name: 'plain', initial: () => 5, apply: () => undefined });

describe('the fold of a feature', () => {
  const turns = counter('turns', 'turn.started');
  const warnings = counter('warnings', 'warning');

  it('has its own state, from the header and the records', () => {
    const { features } = foldedWith([turns, plain, warnings], warning('a'), warning('b'));
    expect(turns.of(features)).toEqual({ count: 0, lastAt: 0, session: SESSION_ID });
    expect(warnings.of(features)).toEqual({ count: 2, lastAt: 2000, session: SESSION_ID });
    expect(plain.of(features)).toBe(5);
    expect(wakingFeatures(features)).toEqual(['warnings']);
  });

  it('can be taken out, and no longer receives records', () => {
    const state = foldedWith([turns, warnings], warning('a'));
    const { features } = state;
    expect(warnings.takeFrom(features)).toMatchObject({ count: 1 });
    expect(features.projections.map(({ name }) => name)).toEqual(['turns']);
    expect(Object.keys(features.states)).toEqual(['turns']);
  });

  it('closes what a killed process left open: of the turn before its end, then its other operations', () => {
    const messages = (drafts: CompleteDraft[]) =>
      drafts.map((draft) => (draft.type === 'warning' ? draft.message : draft.type));
    expect(messages(settleCrash(foldedWith([turns, plain], turn)))).toEqual([
      'turn of main',
      'turn.ended',
      'settled 1 at 1000',
    ]);
    expect(messages(settleCrash(foldedWith([turns, plain])))).toEqual([]);
  });

  it('settles nothing without these functions, and then a copy needs no further records', () => {
    expect(isSettled(foldedWith([plain], warning('a')))).toBe(true);
    const copied = defineFeatureProjection({
      name: 'copied',
      initial: () => 0,
      apply: () => undefined,
      onCopy: () => [warning('copied')],
    });
    expect(isSettled(foldedWith([plain, copied]))).toBe(false);
  });
});
