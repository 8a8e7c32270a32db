/**
 * After any history with undos, the reverted parts of the state are as if the undone records did not exist: the fold of
 * all records equals the fold of the remaining ones. Over random histories.
 */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { features } from '#server/features/features.ts';
import { planOf, plans } from '#server/features/plan-mode/projection.ts';
import { todoListOf, todoLists } from '#server/features/todo-list/projection.ts';
import { applyBatch, initialState, type LogState } from '#server/journal/fold.ts';
import { readContext } from '#server/journal/projections/context.ts';
import type { JournalRecord } from '#server/journal/records.ts';
import { newHeader } from '#server/journal/view.ts';
import { transcriptProjection } from '#server/transcript/fold.ts';
import { createMapper } from '#server/transcript/mapper.ts';
import { emptyTranscript } from '#server/transcript/reducer/state.ts';
import { seeded } from '#support/random.ts';
import { createDriver } from '#support/session-histories.ts';
import { openLog, SESSION_ID, useTemporaryFolder } from '#support/session-logs.ts';

const HISTORIES = 25;
const LINES = 120;

const transcripts = transcriptProjection(createMapper(features));
const projections = [...features.flatMap((feature) => feature.projection ?? []), transcripts];
const start = () => initialState(newHeader(SESSION_ID, 0), projections);

const folder = useTemporaryFolder();

interface Told {
  t: number;
  record: JournalRecord;
}

async function history(seed: number): Promise<Told[]> {
  const { log } = await openLog(join(folder.path, `session-${seed}`));
  const told: Told[] = [];
  await log.claim();
  log.listen({
    line: ({ t, records }) => void told.push(...records.map((record) => ({ t, record }))),
    volatile: () => undefined,
    restarted: () => undefined,
  });
  const driver = createDriver(log, seeded(seed));
  for (let line = 0; line < LINES; line += 1) await driver.step();
  await log.close();
  return told;
}

const fold = (state: LogState, { t, record }: Told) => applyBatch(state, { t, records: [record] });
const entriesOf = (state: LogState) => readContext(state.context, 'main').entries;
const isMain = ({ record }: Told) => record.agent === 'main';

/**
 * Returns the records without those that undos removed from the main agent and without the undos, and the number of
 * undos.
 */
function withoutUndone(told: readonly Told[]): { kept: Told[]; undos: number } {
  const state = start();
  let kept: Told[] = [];
  let undos = 0;
  /** For each entry of the context, the number of retained records before its own. */
  let madeAt: number[] = [];
  for (const one of told) {
    const { record } = one;
    fold(state, one);
    if (record.type === 'context.spliced' && record.x?.cause === 'undo') {
      const cut = madeAt[record.start] ?? kept.length;
      kept = kept.filter((other, at) => at < cut || !isMain(other));
      madeAt = madeAt.slice(0, record.start);
      undos += 1;
      continue;
    }
    if (record.type === 'context.undone') continue;
    const { length } = entriesOf(state);
    if (record.type === 'context.spliced' && record.x?.cause === 'compaction') madeAt = [];
    // A turn is removed with the message that opened it.
    const opens = record.type === 'context.spliced' && record.x?.enters === 'turn';
    const turn = opens ? kept.findLastIndex((other) => isMain(other) && other.record.type === 'turn.started') : -1;
    while (madeAt.length < length) madeAt.push(turn === -1 ? kept.length : turn);
    kept.push(one);
  }
  return { kept, undos };
}

function folded(told: readonly Told[]): LogState {
  const state = start();
  for (const one of told) fold(state, one);
  return state;
}

/** Returns the parts of the state that an undo reverts. */
function rolledBack(state: LogState) {
  const { entries, anchors, delivered, agentsMd } = readContext(state.context, 'main');
  const { history, places } = state.messages;
  const { items, todos, meta } = transcripts.of(state.features).agents.get('main')?.state ?? emptyTranscript();
  return {
    messages: entries.map(({ message }) => message),
    steps: entries.map(({ turnId, step }) => [turnId, step]),
    checkpoints: entries.map(({ checkpoint }) => checkpoint !== undefined),
    anchors,
    delivered: [...delivered],
    agentsMd: [...agentsMd],
    history: history.map(({ id, role }) => [id, role]),
    places,
    todos: todoListOf(todoLists.of(state.features), 'main'),
    plan: planOf(plans.of(state.features), 'main'),
    shownTodos: [...todos.values()].flatMap((todo) => todo.items),
    shownPlan: meta.modes?.plan,
    timeline: items
      .map((item) => {
        if (item.kind === 'marker') return item.marker;
        if (item.kind === 'taskref') return item.refId;
        const steps = item.steps.map(({ stepId, frames }) => [stepId, frames.map(({ frameId }) => frameId)]);
        return [item.turnId, item.prompt, steps];
      })
      .filter((item) => item !== 'undo'),
  };
}

it(`of ${HISTORIES} histories`, async () => {
  let undos = 0;
  for (let seed = 1; seed <= HISTORIES; seed += 1) {
    const told = await history(seed);
    const remaining = withoutUndone(told);
    undos += remaining.undos;
    expect(rolledBack(folded(told)), `history ${seed}`).toEqual(rolledBack(folded(remaining.kept)));
  }
  expect(undos).toBeGreaterThan(HISTORIES);
});
