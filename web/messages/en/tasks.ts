export const tasks = {
  'tasks.title': 'Tasks',
  'tasks.running': ({ count }: { count: number }) => (count === 1 ? '1 task runs' : `${count} tasks run`),
  'tasks.output': 'Output',
  'tasks.reading': 'Reading …',
  'tasks.noOutput': 'No output yet.',
} as const;
