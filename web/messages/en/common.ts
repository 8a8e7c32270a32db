export const common = {
  'common.close': 'Close',
  'common.cancel': 'Cancel',
  'common.retry': 'Try again',
  'common.waiting': ({ count }: { count: number }) => (count === 1 ? '1 waits' : `${count} wait`),
} as const;
