const ofMost = (used: string, most: string | undefined) => (most === undefined ? used : `${used} of ${most}`);

export const goals = {
  'goals.active': 'Goal',
  'goals.paused': 'Goal paused',
  'goals.blocked': 'Goal blocked',
  'goals.complete': 'Goal reached',
  'goals.reachedWhen': 'Reached when:',
  'goals.turns': ({ used, most }: { used: number; most: number | undefined }) =>
    most === undefined ? `${used} ${used === 1 ? 'turn' : 'turns'}` : `${used} of ${most.toLocaleString('en')} turns`,
  'goals.tokens': ({ used, most }: { used: string; most: string | undefined }) => `${ofMost(used, most)} tokens`,
  'goals.time': ({ used, most }: { used: string; most: string | undefined }) => ofMost(used, most),
} as const;
