import { precisely } from './durations.ts';

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
  'conversation.nextTurn': 'Next turn',
  'conversation.previousTurn': 'Turn before',

  'conversation.worked': ({ ms }: { ms: number }) => `Worked ${precisely(ms)}`,
  'conversation.working': ({ ms }: { ms: number }) => `Working ${precisely(ms)}`,
  'conversation.workedUntimed': 'Worked',
  'conversation.steps': ({ count }: { count: number }) => counted(count, 'step', 'steps'),
  'conversation.files': ({ count }: { count: number }) => counted(count, 'file', 'files'),
  'conversation.lines': ({ added, removed }: { added: number; removed: number }) =>
    [...(added > 0 ? [`+${added}`] : []), ...(removed > 0 ? [`−${removed}`] : [])].join(' '),
  'conversation.model': ({ name }: { name: string }) => `Model: ${name}`,
  'conversation.tokens': ({ input, output, cached }: { input: string; output: string; cached: string }) =>
    `Tokens: ${input} in, ${output} out, ${cached} from the cache`,
  'conversation.price': ({ price }: { price: string }) => `List price: ${price}`,
  'conversation.took': ({ ms }: { ms: number }) => `Time: ${precisely(ms)}`,

  'conversation.thinking': 'Thinking',
  'conversation.thought': 'Thought',

  'conversation.copy': 'Copy',
  'conversation.copied': 'Copied',
  'conversation.showLines': ({ count }: { count: number }) => `Show all ${count} lines`,
  'conversation.image': 'Image',
  'conversation.attachedImage': 'Attached image',
  'conversation.openImage': 'Open the image',

  'conversation.promptMenu': 'Actions for this prompt',
  'conversation.copyText': 'Copy text',
  'conversation.takeBack': 'Take back',
  'conversation.editAndResend': 'Edit and resend',
  'conversation.continueInCopy': 'Continue in a copy',
  'conversation.takeBackTitle': 'Take back this prompt?',
  'conversation.takeBackText':
    'The prompt and everything after it leave the conversation. Files are not changed back: what the agent has written stays.',
  'conversation.imagesLost': 'Not all images of the prompt could be taken back; attach them again.',
  'conversation.copyTitle': 'Continue in a copy?',
  'conversation.copyDescription':
    'A copy of the session is opened that ends before this prompt, with its text in the prompt box. It works in the same directory; files are not changed back.',
  'conversation.copyAllText':
    'A copy of the session is opened, which goes its own way from here. It works in the same directory; files are not copied.',
  'conversation.newChild': 'New child session',
  'conversation.childTitle': 'Start a child session?',
  'conversation.childText':
    'A copy of the session is opened and listed below this one. It works in the same directory; files are not copied.',
  'conversation.openChild': 'Open the child session',
  'conversation.compactSession': 'Compact the conversation …',
  'conversation.compactTitle': 'Compact the conversation?',
  'conversation.export': 'Export as a zip archive',
  'conversation.openCopy': 'Open the copy',
  'conversation.stopFirst': 'The agent is still working. It must be stopped first.',
  'conversation.stopFirstQueued':
    'The agent is still working. It must be stopped first, and the queued prompts are removed.',
  'conversation.stopAndContinue': 'Stop, then continue',
  'conversation.undoEmpty': 'There is no prompt that could be taken back.',
  'conversation.undoInsufficient': ({ count }: { count: number }) =>
    `Only ${counted(count, 'prompt', 'prompts')} can be taken back. The conversation has changed meanwhile.`,
  'conversation.undoCompacted':
    'The conversation was compacted after this prompt. What is before that point cannot be taken back; continue in a new session instead.',
  'conversation.notLoaded': 'The conversation since this prompt could not be loaded. Try again.',
  'conversation.outline': 'Outline of the prompts',
  'conversation.outlineFilter': 'Filter prompts',
  'conversation.outlineEmpty': 'No prompts yet',
  'conversation.outlineNone': 'No prompt contains this text',
  'conversation.find': 'Find in this conversation',
  'conversation.findNext': 'Next hit',
  'conversation.findPrevious': 'Previous hit',
  'conversation.findCount': ({ at, count, more }: { at: number; count: number; more: boolean }) =>
    `${at} of ${count}${more ? '+' : ''}`,
  'conversation.findNone': 'Nothing found',
  'conversation.findBuilding': 'The index is being built',
  'conversation.viewMode': 'View of the conversation',
  'conversation.viewAll': 'Everything',
  'conversation.viewNormal': 'Normal',
  'conversation.viewSummary': 'Summary',
  'conversation.viewNext': 'Change the view of the conversation',
  'conversation.rejected': 'rejected',
  'conversation.cancelled': 'cancelled',
  'conversation.interruptedCall': 'interrupted',
  'conversation.failed': 'failed',
  'conversation.running': 'running',
  'conversation.preparing': 'preparing',
  'conversation.writingCall': ({ count }: { count: number }) => `writing call, ${count} characters`,
  'conversation.percent': ({ percent }: { percent: number }) => `${percent} %`,
  'conversation.outputLines': ({ count }: { count: number }) => `${count} lines`,
  'conversation.noOutput': 'No output',
  'conversation.exitCode': ({ code }: { code: number }) => `exit code ${code}`,
  'conversation.diff': 'Change of text',
  'conversation.hits': ({ count }: { count: number }) => counted(count, 'hit', 'hits'),

  'conversation.imageGone': 'An image that is no longer there',

  'conversation.answeredBy': ({ state, isForSession, by }: { state: string; isForSession: boolean; by: string }) =>
    `${state.charAt(0).toUpperCase()}${state.slice(1)}${isForSession ? ' for the session' : ''} ${by}`,
} as const;
