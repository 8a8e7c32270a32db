/** Subagents of running calls, whose conversation is followed for its last line. */
import type { TranscriptFollower, TranscriptState } from '@service-code/client';

/** Returns a function that opens and closes the subagents that the present state of their caller requires. */
export function followChildren(follower: Pick<TranscriptFollower, 'open'>): (state: TranscriptState) => void {
  const open = new Map<string, () => void>();

  return (state) => {
    const running = runningChildren(state);
    for (const agentId of running) if (!open.has(agentId)) open.set(agentId, follower.open(agentId));
    for (const [agentId, stop] of open) {
      if (running.has(agentId)) continue;
      open.delete(agentId);
      stop();
    }
  };
}

function runningChildren({ items }: TranscriptState): Set<string> {
  const turn = items.findLast((item) => item.kind === 'turn');
  const running = new Set<string>();
  if (turn?.kind !== 'turn') return running;
  for (const frame of turn.steps.flatMap((step) => step.frames)) {
    if (frame.kind !== 'tool' || frame.state !== 'running') continue;
    for (const { agentId } of frame.agentRefs ?? []) running.add(agentId);
  }
  return running;
}
