export const trust = {
  'trust.question': 'Trust this project?',
  'trust.effect': 'Such settings can start programs on your machine and widen where the agent works.',
  'trust.trust': 'Trust',
  'trust.notNow': 'Not now',

  'trust.noEffect': ({ file }: { file: string }) => `${file} has no effect: its directory is not trusted.`,
} as const;
