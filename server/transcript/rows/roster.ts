/** Rows of the roster: creation, parent and archiving of each agent. */
import type { EventRecord } from '#server/journal/records.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import { iso } from '#schema/scalars.ts';
import type { RosterEntry } from '#schema/rest/transcript.ts';
import type { RecordMappers } from '../transcript-rows.ts';

function bornNow({ agent, x }: EventRecord<'agent.created'>, t: number): RosterEntry {
  const createdAt = iso(t);
  if (agent === MAIN_AGENT) return { agentId: agent, type: 'main', createdAt };
  const { parentAgentId = MAIN_AGENT, label } = x ?? {};
  return { agentId: agent, type: 'sub', parentAgentId, ...(label === undefined ? {} : { label }), createdAt };
}

/** Removes the disposal; the other members are those of the first creation. */
const livingAgain = ({ disposedAt: _disposedAt, ...known }: RosterEntry): RosterEntry => known;

export const rosterRows: RecordMappers = {
  'event.session.created'({ roster }, _record, t) {
    roster.set(MAIN_AGENT, { agentId: MAIN_AGENT, type: 'main', createdAt: iso(t) });
    return [];
  },
  'agent.created'({ id, roster }, record, t) {
    const known = roster.get(id);
    roster.set(id, record.x || !known ? bornNow(record, t) : livingAgain(known));
    return [];
  },
  'agent.disposed'({ id, roster }, { x }, t) {
    const known = roster.get(id);
    if (known && x?.reason === 'evicted') roster.set(id, { ...known, disposedAt: iso(t) });
    return [];
  },
  'session.closed'({ roster }, _record, t) {
    // Agents that were disposed together with their session were not archived.
    for (const [id, entry] of roster) if (entry.disposedAt === iso(t)) roster.set(id, livingAgain(entry));
    return [];
  },
};
