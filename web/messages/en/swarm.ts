export const swarm = {
  'swarm.resumed': ({ agent }: { agent: string }) => `${agent} goes on`,
  'swarm.count': ({ count, state }: { count: number; state: string }) => `${count} ${state}`,
  'swarm.planned': 'to come',
  'swarm.running': 'running',
  'swarm.waiting': 'waiting',
  'swarm.done': 'done',
  'swarm.failed': 'failed',
  'swarm.aborted': 'aborted',
  'swarm.unstarted': 'not started',
} as const;
