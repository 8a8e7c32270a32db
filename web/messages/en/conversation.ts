const counted = (count: number, one: string, many: string) => (count === 1 ? `1 ${one}` : `${count} ${many}`);

export const conversation = {
  'conversation.label': 'Conversation',
  'conversation.you': 'You',
  'conversation.agent': 'Agent',
  'conversation.stopped': 'Stopped.',
  'conversation.interrupted': 'Interrupted: the server stopped during this turn.',
  'conversation.hookRefused': ({ reason }: { reason: string }) => `A hook refused this prompt: ${reason}`,
  'conversation.hookBlocked': 'A hook blocked this prompt.',
  'conversation.tookBackOne': 'A prompt was taken back.',
  'conversation.tookBackMany': 'Prompts were taken back.',
  'conversation.cleared': 'The conversation was cleared.',
  'conversation.notCompacted': 'The conversation was not compacted.',
  'conversation.compacted': 'The conversation above was compacted',
  'conversation.compactedTokens': ({ before, after }: { before: string; after: string }) =>
    ` (${before} → ${after} tokens)`,
  'conversation.retry': ({ reason, wait, next, most }: { reason: string; wait: number; next: number; most: number }) =>
    `${reason}\nTrying again in ${wait} s (attempt ${next} of ${most}).`,
  'conversation.job': ({ cron }: { cron: string }) => `Scheduled job, ${cron}`,
  'conversation.jobTimes': ({ count }: { count: number }) => `for ${count} times`,
  'conversation.jobLast': 'for the last time',
  'conversation.messageGone': 'That message is no longer part of the conversation.',
  'conversation.toEnd': 'Go to the newest message',
  'conversation.newBelow': ({ count }: { count: number }) => counted(count, 'new message', 'new messages'),
  'conversation.toNewest': 'To the newest',
  'conversation.window': 'You read an earlier part of the conversation.',

  'conversation.worked': ({ time }: { time: string }) => `Worked ${time}`,
  'conversation.working': ({ time }: { time: string }) => `Working ${time}`,
  'conversation.workedUntimed': 'Worked',
  'conversation.steps': ({ count }: { count: number }) => counted(count, 'step', 'steps'),
  'conversation.files': ({ count }: { count: number }) => counted(count, 'file', 'files'),
  'conversation.lines': ({ added, removed }: { added: number; removed: number }) =>
    [...(added > 0 ? [`+${added}`] : []), ...(removed > 0 ? [`−${removed}`] : [])].join(' '),
  'conversation.model': ({ name }: { name: string }) => `Model: ${name}`,
  'conversation.tokens': ({ input, output, cached }: { input: string; output: string; cached: string }) =>
    `Tokens: ${input} in, ${output} out, ${cached} from the cache`,
  'conversation.price': ({ price }: { price: string }) => `List price: ${price}`,
  'conversation.took': ({ time }: { time: string }) => `Time: ${time}`,

  'conversation.thinking': 'Thinking',
  'conversation.thought': 'Thought',

  'conversation.copy': 'Copy',
  'conversation.copied': 'Copied',
  'conversation.showLines': ({ count }: { count: number }) => `Show all ${count} lines`,
  'conversation.image': 'Image',
} as const;
