/** Grades: which operations of an agent a connection receives. */
import type { Grade } from '#schema/frames/transcripts.ts';
import type { TranscriptOp } from '#schema/rest/transcript-ops.ts';
import type { StoredOp } from '../reducer/state.ts';

/** Grades by agent; `*` is for agents without an entry. */
export type Grades = ReadonlyMap<string, Grade>;

const ANY = '*';
const ranks: Record<Grade, number> = { off: 0, turn: 1, block: 2, delta: 3 };

/** The agent's entry, else that of `*`. */
export const entryOf = <T>(entries: ReadonlyMap<string, T>, agentId: string): T | undefined =>
  entries.get(agentId) ?? entries.get(ANY);

export const gradeOf = (grades: Grades, agentId: string): Grade => entryOf(grades, agentId) ?? 'off';

export const isHigher = (grade: Grade, than: Grade): boolean => ranks[grade] > ranks[than];

/** Whether the steps of turns are included. */
export const hasSteps = (grade: Grade): boolean => ranks[grade] >= ranks.block;

export const followsAny = (grades: Grades): boolean => [...grades.values()].some((grade) => grade !== 'off');

/** The grades without these agents; for `*`, without those that have no entry. */
export function withoutAgents(grades: Grades, agentIds: readonly string[]): Grades {
  const rest = new Map(grades);
  for (const id of agentIds) {
    if (id === ANY) rest.delete(ANY);
    else rest.set(id, 'off');
  }
  return rest;
}

/** The lowest grade that admits an operation. */
function least({ op }: { op: TranscriptOp['op'] }): Grade {
  switch (op) {
    case 'append':
      return 'delta';
    case 'step.upsert':
    case 'frame.upsert':
      return 'block';
    default:
      return 'turn';
  }
}

export const admits = (grade: Grade, op: TranscriptOp | StoredOp): boolean => ranks[grade] >= ranks[least(op)];
