/**
 * Projection of a journal to the documents of search: the prompts of users, the texts of models, the session's title.
 * Its state is stored with the session's documents, so a session is indexed on from where its last indexing ended.
 */
import * as z from 'zod';
import { cutFrom, cutPointsOf } from '#server/journal/cut-points.ts';
import { isUndoAnchor } from '#server/journal/projections/context.ts';
import type { EventRecord, InternalRecord, JournalRecord } from '#server/journal/records.ts';
import type { Stored, Text } from '#server/journal/texts.ts';
import { slashLine, withoutSkillBlocks } from '#server/journal/typed-prompts.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { count } from '#schema/scalars.ts';

interface AgentState {
  /** Number of records so far. */
  records: number;
  /** Messages at which an undo may cut, since the last compaction. */
  cuts: { index: number; at: number }[];
  /** The newest turn, with the number of the record that started it. */
  turn?: { ordinal: number; at: number; isOpen: boolean } | undefined;
  /** Context index from which an undo removed messages, until its end is recorded. */
  undoingFrom?: number | undefined;
}

/** Agents by id. */
export type SearchFold = Map<string, AgentState>;

/** An agent's state as it is stored: without names, because every session has one. */
const storedAgent = z.tuple([
  z.string(),
  count,
  z.array(z.tuple([count, count])),
  z.tuple([count, count, z.boolean()]).nullable(),
  count.nullable(),
]);
type StoredAgent = z.infer<typeof storedAgent>;
const storedFold = z.array(storedAgent);

export function foldText(fold: SearchFold): string {
  const agents = [...fold].map(([id, { records, cuts, turn, undoingFrom }]): StoredAgent => [
    id,
    records,
    cuts.map(({ index, at }) => [index, at]),
    turn ? [turn.ordinal, turn.at, turn.isOpen] : null,
    undoingFrom ?? null,
  ]);
  return JSON.stringify(agents);
}

/** Throws if the text is not of a fold. */
export function parseFold(text: string): SearchFold {
  const agents = storedFold.parse(JSON.parse(text));
  return new Map(
    agents.map(([id, records, cuts, turn, undoingFrom]) => [
      id,
      {
        records,
        cuts: cuts.map(([index, at]) => ({ index, at })),
        turn: turn ? { ordinal: turn[0], at: turn[1], isOpen: turn[2] } : undefined,
        undoingFrom: undoingFrom ?? undefined,
      },
    ]),
  );
}

/** A text of an agent's user or model, which has a step, or the session's title. */
export interface SearchDocument {
  /** `""` for a title. */
  agentId: string;
  /** Milliseconds since the epoch. */
  time: number;
  /** Absent for a title, and for a prompt outside of a turn. */
  turn?: number | undefined;
  /** Only of an assistant's text. */
  step?: number;
  /** Number of the agent's record: an undo removes those from its cut on. */
  record: number;
  /** Index of the message or the part in the record. */
  part: number;
  /** Its parts, joined without a separator; long ones are in files. */
  text: readonly Text[];
}

export type SearchChange =
  { kind: 'put'; document: SearchDocument } | { kind: 'removeFrom'; agentId: string; record: number };

/** A title replaces the one before. */
const titleChanges = (title: string, time: number): SearchChange[] => [
  { kind: 'removeFrom', agentId: '', record: 0 },
  { kind: 'put', document: { agentId: '', time, record: 0, part: 0, text: [title] } },
];

/** The text that the user typed: the line of a slash command, else the text of the message without its skills. */
function typedText({ origin, content }: Stored<ContextMessage>): readonly Text[] {
  const line = slashLine(origin);
  if (line !== undefined) return [line];
  return withoutSkillBlocks(content, origin).flatMap((part) => (part.type === 'text' ? [part.text] : []));
}

function splice(
  agent: AgentState,
  record: EventRecord<'context.spliced'>,
  { number, time }: { number: number; time: number },
): SearchChange[] {
  const { agent: agentId, start, messages, x } = record;
  if (x?.cause === 'undo') agent.undoingFrom = start;
  else if (x?.cause === 'compaction') agent.cuts = [];
  else {
    const opensTurn = x?.enters === 'turn' && agent.turn?.isOpen === true;
    const at = opensTurn && agent.turn ? agent.turn.at : number;
    for (const { index } of cutPointsOf(messages, start, at)) agent.cuts.push({ index, at });
    if (x?.cause === 'copy' || x?.copyOf !== undefined) return [];
    return messages.flatMap((message, part): SearchChange[] => {
      if (!isUndoAnchor(message)) return [];
      const turn = agent.turn?.ordinal;
      const text = typedText(message);
      return [{ kind: 'put', document: { agentId, time, turn, record: number, part, text } }];
    });
  }
  return [];
}

function response(
  { agent: agentId, turnId, step, parts }: InternalRecord<'step.response'>,
  { number, time }: { number: number; time: number },
): SearchChange[] {
  return parts.flatMap((part, index): SearchChange[] => {
    if (part.type !== 'text') return [];
    const document = { agentId, time, turn: turnId, step, record: number, part: index, text: [part.text] };
    return [{ kind: 'put', document }];
  });
}

function undone(agent: AgentState, agentId: string): SearchChange[] {
  const { kept, cut } = cutFrom(agent.cuts, agent.undoingFrom ?? Infinity);
  agent.cuts = kept;
  agent.undoingFrom = undefined;
  return Number.isFinite(cut) ? [{ kind: 'removeFrom', agentId, record: cut }] : [];
}

/** Applies one record to the state; returns the changes of the documents, in order. */
export function applySearchRecord(fold: SearchFold, record: JournalRecord, time: number): SearchChange[] {
  const agent = fold.get(record.agent) ?? { records: 0, cuts: [] };
  fold.set(record.agent, agent);
  agent.records += 1;
  const place = { number: agent.records, time };
  switch (record.type) {
    case 'event.session.created':
      return titleChanges(record.session.title, time);
    case 'session.meta.updated':
      return record.title === undefined ? [] : titleChanges(record.title, time);
    case 'turn.started':
      agent.turn = { ordinal: record.turnId, at: place.number, isOpen: true };
      return [];
    case 'turn.ended':
      if (agent.turn?.ordinal === record.turnId) agent.turn.isOpen = false;
      return [];
    case 'context.spliced':
      return splice(agent, record, place);
    case 'step.response':
      return response(record, place);
    case 'context.undone':
      return undone(agent, record.agent);
    case 'context.cleared':
      agent.cuts = [];
      return [];
    default:
      return [];
  }
}
