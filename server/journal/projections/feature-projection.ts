/** Folds that features bring: kept beside the core's, by name, and taken back with an undo where they say how. */
import type { JournalHeader } from '../header.ts';
import type { CompleteDraft, Draft, JournalRecord } from '../records.ts';

/**
 * What a feature folds. States and saved values are plain data (maps and sets too), and nothing in them is the session's own
 * that the copy of a session must not have.
 */
export interface FeatureFold<State, Saved> {
  /** The feature's. */
  name: string;
  initial(header: JournalHeader): State;
  /** As `Projection.apply`. */
  apply(state: State, record: JournalRecord, t: number): void;
  /** Followed by undo: what `restore` needs later to bring an agent's part back to the present one. */
  undo?: {
    checkpoint(state: State, agent: string): Saved;
    restore(state: State, agent: string, saved: Saved): void;
  };
  /** What the copy of a session is told of it, asked in front of its `forked`: what follows is no part of the original. */
  onCopy?(state: State): Draft[];
  /** Records that close what a dead process left open of it; `at` is the time of the last line, in ms. */
  settle?(state: State, at: number): CompleteDraft[];
  /** The same of an agent's open turn; the records precede its `turn.ended`. */
  settleTurn?(state: State, agent: string): Draft[];
  /** Whether the session has to be loaded after a start of the server without a client asking. */
  wakes?(state: State): boolean;
}

/** The same as the core sees it. */
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
  /** The same, and from then on it is no part of these folds. */
  takeFrom(folds: FeatureFolds): State;
}

/** Names a fold. The only place that knows a state by its name, hence the casts. */
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

/** The folds of these features at a journal's beginning. */
export function startFeatures(projections: readonly FeatureProjection[], header: JournalHeader): FeatureFolds {
  const folds: FeatureFolds = { projections, states: {} };
  for (const projection of projections) projection.start(folds, header);
  return folds;
}

/** Names of the features for which the session has to be loaded after a start; empty for none. */
export const wakingFeatures = (folds: FeatureFolds): string[] =>
  folds.projections.flatMap((projection) => (projection.wakes(folds) ? projection.name : []));
