/** The views of tool calls: one for each built-in tool and for each kind of display. */
import { expect, it } from 'vitest';
import type { Display } from '@service-code/client';
import { TOOL_ORDER } from '#server/agent/profiles/built-in.ts';
import { SELECT_TOOLS } from '#server/features/tool-selection/conversation.ts';
import { cronViews } from '../../../web/features/cron/views.ts';
import { displayViews } from '../../../web/features/displays/views.ts';
import { fileViews } from '../../../web/features/files/views.ts';
import { goalViews } from '../../../web/features/goals/views.ts';
import { planViews } from '../../../web/features/plan-mode/views.ts';
import { questionViews } from '../../../web/features/questions/views.ts';
import { shellViews } from '../../../web/features/shell/views.ts';
import { skillViews } from '../../../web/features/skills/views.ts';
import { subagentViews } from '../../../web/features/subagents/views.ts';
import { swarmViews } from '../../../web/features/swarm/views.ts';
import { todoViews } from '../../../web/features/todo-list/todos.ts';
import { webViews } from '../../../web/features/web/views.ts';
import { createToolViews } from '../../../web/render/tool-view.ts';
import type { ToolFrame } from '../../../web/state/rows.ts';
import { toolCallOf } from '../../../web/state/tool-call.ts';

const core = [shellViews, fileViews, webViews, displayViews, skillViews, todoViews];
const all = [subagentViews, questionViews, planViews, swarmViews, goalViews, cronViews, ...core];
const { ofCall, ofDisplay } = createToolViews(all);

it.each([...TOOL_ORDER, SELECT_TOOLS])('%s has a view by its name', (name) => {
  expect(all.filter(({ tools }) => tools && Object.hasOwn(tools, name))).toHaveLength(1);
  expect(ofCall({ name, input: {} }).verb).toMatch(/^[A-Z][a-z]/);
});

const displays: { [K in Display['kind']]: Extract<Display, { kind: K }> } = {
  command: { kind: 'command', command: 'ls', cwd: '/w' },
  file_io: { kind: 'file_io', operation: 'read', path: '/w/a.txt' },
  diff: { kind: 'diff', path: '/w/a.txt', before: 'a', after: 'b' },
  search: { kind: 'search', query: 'wheels', scope: 'docs' },
  url_fetch: { kind: 'url_fetch', url: 'https://a.example/', method: 'POST' },
  agent_call: { kind: 'agent_call', agent_name: 'explore', prompt: 'Look' },
  skill_call: { kind: 'skill_call', skill_name: 'release', args: 'v2' },
  todo_list: { kind: 'todo_list', items: [{ title: 'Look', status: 'pending' }] },
  task: { kind: 'task', task_id: 'bash-1', status: 'running', description: 'Tests' },
  task_stop: { kind: 'task_stop', task_id: 'bash-1', task_description: 'Tests' },
  plan_review: { kind: 'plan_review', plan: '# Rename\nAll of it.' },
  goal_start: { kind: 'goal_start', objective: 'Ship it', mode: 'manual' },
  generic: { kind: 'generic', summary: 'Approve x', detail: { a: 1 } },
};
const subjects: Record<Display['kind'], string> = {
  command: 'ls',
  file_io: '/w/a.txt',
  diff: '/w/a.txt',
  search: 'wheels in docs',
  url_fetch: 'POST https://a.example/',
  agent_call: 'explore',
  skill_call: 'release v2',
  todo_list: '0 of 1 done',
  task: 'Tests (running)',
  task_stop: 'Tests',
  plan_review: 'Rename',
  goal_start: 'Ship it',
  generic: 'Approve x',
};

it.each(Object.values(displays))('the display $kind has a view', (display) => {
  expect(ofDisplay('Tool', display).subject).toBe(subjects[display.kind]);
  // A tool that the page does not have by name is drawn by its display.
  expect(ofCall({ name: 'Unheard', input: {}, display }).subject).toBe(subjects[display.kind]);
});

it('every operation of a file has a view', () => {
  const verbs = (['read', 'write', 'edit', 'glob', 'grep'] as const).map(
    (operation) => ofDisplay('Tool', { kind: 'file_io', operation, path: '/w', detail: 'x' }).verb,
  );
  expect(verbs).toEqual(['Read', 'Write', 'Edit', 'Find', 'Search']);
});

it('an unknown kind is drawn with all of its members', () => {
  const display: Display = JSON.parse('{ "kind": "later", "member": 1 }');
  expect(ofDisplay('Tool', display)).toEqual({ verb: 'Tool', subject: '', body: { kind: 'json', value: display } });
  expect(ofCall({ name: 'Tool', input: { a: 1 }, display })).toMatchObject({ body: { value: { a: 1 } } });
});

it('a tool of an MCP server is drawn by its arguments, under the name of its server', () => {
  expect(ofCall({ name: 'mcp__db__Edit', input: { table: 'users', limit: 2 } })).toEqual({
    verb: 'db: Edit',
    subject: 'table: "users", limit: 2',
    body: { kind: 'json', value: { table: 'users', limit: 2 } },
  });
});

it('waits, stops and appended texts have their details', () => {
  const subject = (name: string, input: object) => ofCall({ name, input }).subject;
  expect(subject('WaitFor', { timeout: 60 })).toBe('the first task that ends, at most 60 s');
  expect(subject('WaitFor', { task_id: 'bash-1', timeout: 5 })).toBe('bash-1, at most 5 s');
  expect(subject('TaskStop', { task_id: 'bash-1', reason: 'too slow' })).toBe('bash-1: too slow');
  expect(subject('select_tools', { names: ['a', 'b', 3] })).toBe('a, b');
  expect(ofCall({ name: 'Write', input: { path: 'a', content: 'b', mode: 'append' } }).verb).toBe('Append');
});

it('a call that was rejected, cancelled or stopped has not failed', () => {
  const frame = (output: string): ToolFrame => ({
    kind: 'tool',
    frameId: 'f',
    toolCallId: 'c',
    name: 'Bash',
    state: 'error',
    input: {},
    output,
  });
  const state = (output: string, answer?: 'rejected' | 'cancelled' | 'approved') =>
    toolCallOf(frame(output), answer).state;
  expect(state('no', 'rejected')).toBe('rejected');
  expect(state('no', 'cancelled')).toBe('cancelled');
  expect(state('Exit code: 2', 'approved')).toBe('failed');
  expect(state('line\nInterrupted by user')).toBe('cancelled');
  expect(state('The call was interrupted before it started; it had no effect.')).toBe('cancelled');
  expect(state('He said "Interrupted by user" and left.')).toBe('failed');
});
