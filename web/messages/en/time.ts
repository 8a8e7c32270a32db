import { roughly } from './durations.ts';

export const time = {
  'time.now': 'now',
  'time.minutes': ({ count }: { count: number }) => `${count}m`,
  'time.hours': ({ count }: { count: number }) => `${count}h`,
  'time.days': ({ count }: { count: number }) => `${count}d`,
  'time.date': ({ date }: { date: string }) => date,
  'time.roughly': ({ ms }: { ms: number }) => roughly(ms),
} as const;
