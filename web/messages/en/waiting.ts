export const waiting = {
  'waiting.label': 'Needs you',
  'waiting.none': 'Nothing needs you',
  'waiting.count': ({ count }: { count: number }) => (count === 1 ? '1 session waits' : `${count} sessions wait`),
  'waiting.approval': 'Approval',
  'waiting.question': 'Question',
  'waiting.answer-here': ({ title }: { title: string }) => `Answer here: ${title}`,
  'waiting.settings': 'Notifications',
  'waiting.notify': 'Notify me while this tab is hidden',
  'waiting.sound': 'Play a sound',
  'waiting.insecure':
    'Browsers allow notifications only on https or on localhost. Open the page through one of them to switch them on.',
  'waiting.unsupported': 'This browser has no notifications.',
  'waiting.denied': 'The browser blocks notifications of this page. Allow them in its settings for this site.',
  'waiting.notice-approval': 'Waits for your approval',
  'waiting.notice-question': 'Has a question',
} as const;
