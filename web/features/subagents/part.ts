/** The subagents of the newest turn, and those that run behind it. */
import { MAIN_AGENT, type EventFrame } from '../../client/types.ts';
import type { ViewPart } from '../../state/view-part.ts';

export interface Subagent {
  id: string;
  /** Its profile. */
  profile: string;
  description: string;
  state: 'running' | 'done' | 'failed';
  background: boolean;
  /** Of a failed one. */
  error?: string;
  /** Rises when there is more to read of it. */
  version: number;
}

export type Subagents = readonly Subagent[];

/** Events of a subagent behind which its transcript shows more. */
const telling: ReadonlySet<EventFrame['type']> = new Set([
  'turn.started',
  'tool.call.started',
  'tool.result',
  'turn.step.completed',
  'turn.ended',
]);

function change(known: Subagents, id: string, changed: (agent: Subagent) => Subagent): Subagents {
  return known.some((agent) => agent.id === id)
    ? known.map((agent) => (agent.id === id ? changed(agent) : agent))
    : known;
}

function event(known: Subagents, frame: EventFrame): Subagents {
  const { agentId } = frame.payload;
  switch (frame.type) {
    case 'subagent.spawned': {
      const { subagentId: id, subagentName, description, runInBackground: background } = frame.payload;
      const version = (known.find((agent) => agent.id === id)?.version ?? 0) + 1;
      const spawned: Subagent = {
        id,
        profile: subagentName,
        description: description ?? subagentName,
        state: 'running',
        background,
        version,
      };
      return [...known.filter((agent) => agent.id !== id), spawned];
    }
    case 'subagent.completed':
      return change(known, frame.payload.subagentId, (agent) => ({ ...agent, state: 'done' }));
    case 'subagent.failed': {
      const { subagentId, error } = frame.payload;
      return change(known, subagentId, (agent) => ({ ...agent, state: 'failed', error }));
    }
    case 'task.started': {
      const { info } = frame.payload;
      if (info.kind !== 'agent' || info.agentId === undefined) return known;
      return change(known, info.agentId, (agent) => (agent.background ? agent : { ...agent, background: true }));
    }
    case 'turn.started':
      if (agentId === MAIN_AGENT) return known.some(isOver) ? known.filter((agent) => !isOver(agent)) : known;
  }
  return telling.has(frame.type)
    ? change(known, agentId, (agent) => ({ ...agent, version: agent.version + 1 }))
    : known;
}

const isOver = ({ state }: Subagent) => state !== 'running';

export const subagentsPart: ViewPart<Subagents> = {
  name: 'subagents',
  initial: [],
  snapshot(known, { subagents }) {
    const shown = subagents.map(({ id, subagent_type = '', description, status, output_preview }): Subagent => ({
      id,
      profile: subagent_type,
      description,
      state: status === 'completed' ? 'done' : status,
      background: false,
      ...(status === 'failed' && output_preview !== undefined ? { error: output_preview } : {}),
      version: (known.find((agent) => agent.id === id)?.version ?? 0) + 1,
    }));
    // Those behind are not among them.
    const behind = known.filter(({ id, background }) => background && !shown.some((agent) => agent.id === id));
    return [...behind, ...shown];
  },
  event,
};
