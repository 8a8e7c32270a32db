export const agents = {
  'agents.title': 'Agents',
  'agents.none': 'No agents yet',
  'agents.noneText':
    'Ask for one in the prompt box. Agents that the main one starts are listed here, with their conversations.',
  'agents.running': 'running',
  'agents.done': 'done',
  'agents.failed': 'failed',
  'agents.stopped': 'stopped',
  'agents.tokens': ({ tokens }: { tokens: string }) => `${tokens} tokens`,
  'agents.stop': 'Stop',
  'agents.toBackground': 'Move to background',

  'agents.conversationOf': ({ agent }: { agent: string }) => `Conversation of ${agent}`,
  'agents.nothingYet': 'Nothing yet',

  'agents.runsInBackground': 'runs in the background',
} as const;
