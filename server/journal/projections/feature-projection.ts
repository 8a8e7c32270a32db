/** Folds of features: stored by name in addition to the core's, and restored by an undo if they define how. */
import type { JournalHeader } from '../header.ts';
import type { CompleteDraft, Draft, JournalRecord } from '../records.ts';

/**
 * The fold of a feature. States and saved values are plain data (including maps and sets), without values that belong
 * to one session and must not be in its copy.
 */
export interface FeatureFold<State, Saved> {
  /** The feature's name. */
  name: string;
  initial(header: JournalHeader): State;
  /** Like `Projection.apply`. */
  apply(state: State, record: JournalRecord, t: number): void;
  /**
   * Support of undo: `checkpoint` returns the value from which `restore` later restores an agent's part of the state.
   */
  undo?: {
    checkpoint(state: State, agent: string): Saved;
    restore(state: State, agent: string, saved: Saved): void;
  };
  /**
   * Returns records for the copy of a session, which precede its `forked`; the records after them are not the
   * original's.
   */
  onCopy?(state: State): Draft[];
  /**
   * Returns records that close the operations that a killed process left open; `at` is the time of the last line, in
   * ms.
   */
  settle?(state: State, at: number): CompleteDraft[];
  /** Like `settle`, for an agent's open turn; the records precede its `turn.ended`. */
  settleTurn?(state: State, agent: string): Draft[];
  /** Whether the session has to be loaded after a start of the server without a client asking. */
  wakes?(state: State): boolean;
}

/** A feature's fold as used by the core, without its types. */
export interface FeatureProjection {
  readonly name: string;
  start(folds: FeatureFolds, header: JournalHeader): void;
  apply(folds: FeatureFolds, record: JournalRecord, t: number): void;
  checkpoint(folds: FeatureFolds, agent: string): unknown;
  restore(folds: FeatureFolds, agent: string, saved: unknown): void;
  copied(folds: FeatureFolds): Draft[];
  settle(folds: FeatureFolds, at: number): CompleteDraft[];
  settleTurn(folds: FeatureFolds, agent: string): Draft[];
  wakes(folds: FeatureFolds): boolean;
}

/** States of all features of one fold. */
export interface FeatureFolds {
  projections: readonly FeatureProjection[];
  readonly states: Record<string, unknown>;
}

/** A fold with its state's type. */
export interface NamedProjection<State> extends FeatureProjection {
  of(folds: FeatureFolds): State;
  /** Returns the state and removes it from these folds. */
  takeFrom(folds: FeatureFolds): State;
}

/** Defines a feature's fold. States are stored by name, and only this function has their types, hence the casts. */
export function defineFeatureProjection<State, Saved = undefined>(
  fold: FeatureFold<State, Saved>,
): NamedProjection<State> {
  const { name, undo } = fold;
  const of = (folds: FeatureFolds) => folds.states[name] as State;
  return {
    name,
    of,
    takeFrom(folds) {
      const state = of(folds);
      folds.projections = folds.projections.filter((projection) => projection.name !== name);
      delete folds.states[name];
      return state;
    },
    start(folds, header) {
      folds.states[name] = fold.initial(header);
    },
    apply: (folds, record, t) => fold.apply(of(folds), record, t),
    checkpoint: (folds, agent) => undo?.checkpoint(of(folds), agent),
    restore: (folds, agent, saved) => undo?.restore(of(folds), agent, saved as Saved),
    copied: (folds) => fold.onCopy?.(of(folds)) ?? [],
    settle: (folds, at) => fold.settle?.(of(folds), at) ?? [],
    settleTurn: (folds, agent) => fold.settleTurn?.(of(folds), agent) ?? [],
    wakes: (folds) => fold.wakes?.(of(folds)) ?? false,
  };
}

/** Creates the initial folds of these features. */
export function startFeatures(projections: readonly FeatureProjection[], header: JournalHeader): FeatureFolds {
  const folds: FeatureFolds = { projections, states: {} };
  for (const projection of projections) projection.start(folds, header);
  return folds;
}

/** Names of the features for which the session has to be loaded after a start; empty for none. */
export const wakingFeatures = (folds: FeatureFolds): string[] =>
  folds.projections.flatMap((projection) => (projection.wakes(folds) ? projection.name : []));
