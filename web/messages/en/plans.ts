export const plans = {
  'plans.title': 'Plan and tasks',
  'plans.empty': 'Nothing planned',
  'plans.empty-text':
    'Ask for a plan in the prompt box. Plans, todo items, background tasks and the goal of this session are listed here.',
  'plans.goal': 'Goal',
  'plans.goal-pause': 'Pause',
  'plans.goal-resume': 'Resume',
  'plans.goal-cancel': 'Cancel the goal',
  'plans.todo': 'Todo',
  'plans.todo-progress': ({ done, total }: { done: number; total: number }) => `${done} of ${total} done`,
  'plans.tasks': 'Tasks',
  'plans.plans': 'Plans',
  'plans.pending': 'Waits for your review',
  'plans.approved': 'Approved',
  'plans.rejected': 'Rejected',
  'plans.cancelled': 'Cancelled',
  'plans.unreviewed': 'Not reviewed',
  'plans.option': ({ option }: { option: string }) => `Chosen: ${option}`,
  'plans.feedback': ({ feedback }: { feedback: string }) => `Your answer: ${feedback}`,

  'plans.todo-list': 'Todo list',
  'plans.todo-all-done': 'All done',
  'plans.todo-count': ({ done, total }: { done: number; total: number }) => `${done} of ${total}`,

  'plans.todo-pending': 'to do',
  'plans.todo-in-progress': 'in progress',
} as const;
