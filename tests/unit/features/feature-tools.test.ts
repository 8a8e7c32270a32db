/** The tools of features: rejected arguments, subjects of permission rules, labels and displays. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessesConflict } from '#server/agent/calls/resource-access.ts';
import { ToolInputError, type ToolEffects, type ToolPermission } from '#server/tools/tool.ts';
import type { Display } from '#schema/rest/display.ts';
import { openTalk, scriptedModel } from '#support/agent-session.ts';
import { noWeb } from '#support/no-web.ts';
import { temporaryFolder } from '#support/session-logs.ts';

let talk: Awaited<ReturnType<typeof openTalk>>;
let remove: () => Promise<void>;
beforeAll(async () => {
  const folder = await temporaryFolder();
  ({ remove } = folder);
  talk = await openTalk({
    dir: folder.path,
    services: scriptedModel().services,
    featureServices: { web: { ...noWeb, canSearch: () => true } },
  });
});
afterAll(async () => {
  await talk.close();
  await remove();
});

const toolOf = (name: string) =>
  talk.main.tools().find(({ tool }) => tool.name === name)?.tool ?? expect.unreachable(name);

async function prepared(name: string, args: unknown) {
  const checked = toolOf(name).check(args);
  if ('problem' in checked) throw new Error(checked.problem);
  return checked.prepare(talk.main.context.environment());
}

interface Shown {
  args: object;
  label: string;
  /** The text that the argument of a rule is matched against; undefined if only the bare name matches. */
  subject?: string;
  /** The argument is matched literally, not as a pattern. */
  literal?: true;
  display?: Display;
}
interface Refused {
  args: unknown;
  problem: RegExp;
}
interface Row {
  /** The permission that applies without a matching rule. */
  permission: ToolPermission;
  /** The declared effects, by which plan mode decides. */
  effects: ToolEffects;
  /** Whether subagents never have the tool. */
  mainOnly?: true;
  shown: Shown[];
  refused: Refused[];
  /** Whether other calls of the response may run concurrently. */
  besideOthers?: true;
}

const question = (more: object = {}) => ({ question: 'Which?', options: [{ label: 'A' }, { label: 'B' }], ...more });
const option = (label: string) => ({ options: [{ label }] });
/** Cron fields of yesterday. */
function yesterday(): string {
  const day = new Date(Date.now() - 24 * 3_600_000);
  return `0 0 ${day.getDate()} ${day.getMonth() + 1} *`;
}
const task = { prompt: 'Count', description: 'count words' };
const swarm = { prompt_template: 'Count {{item}}', items: ['a', 'b'], description: 'count words' };

const table: Record<string, Row> = {
  TodoList: {
    permission: 'free',
    effects: 'none',
    shown: [
      { args: {}, label: 'Read the todo list' },
      { args: { todos: [] }, label: 'Clear the todo list' },
      { args: { todos: [{ title: 'x', status: 'done' }] }, label: 'Write a todo list of 1 items' },
    ],
    refused: [
      { args: { todos: [{ title: '', status: 'done' }] }, problem: /^todos\.0\.title: / },
      { args: { todos: [{ title: 'x', status: 'doing' }] }, problem: /^todos\.0\.status: / },
    ],
  },
  AskUserQuestion: {
    mainOnly: true,
    permission: 'free',
    effects: 'none',
    shown: [
      { args: { questions: [question()] }, label: 'Asking: Which?' },
      {
        args: { questions: [question(), question({ question: 'When?' })], background: true },
        label: 'Asking: Which? (+1 more)',
      },
    ],
    refused: [
      { args: {}, problem: /^questions: / },
      { args: { questions: [] }, problem: /^questions: / },
      {
        args: { questions: Array.from({ length: 5 }, (_, n) => question({ question: `${n}` })) },
        problem: /^questions/,
      },
      { args: { questions: [question({ options: [{ label: 'A' }] })] }, problem: /^questions\.0\.options: / },
      { args: { questions: [question({ question: '' })] }, problem: /^questions\.0\.question: / },
      { args: { questions: [question(), question()] }, problem: /asked twice/ },
      { args: { questions: [question({ options: [{ label: 'A' }, { label: 'A' }] })] }, problem: /stands twice/ },
    ],
  },
  Skill: {
    permission: 'free',
    effects: 'none',
    shown: [
      {
        args: { skill: 'greet' },
        label: 'Invoke skill greet',
        subject: 'greet',
        literal: true,
        display: { kind: 'skill_call', skill_name: 'greet' },
      },
      {
        args: { skill: 'greet', args: 'bob' },
        label: 'Invoke skill greet',
        subject: 'greet',
        literal: true,
        display: { kind: 'skill_call', skill_name: 'greet', args: 'bob' },
      },
    ],
    refused: [
      { args: {}, problem: /^skill: / },
      { args: { skill: '' }, problem: /^skill: / },
    ],
  },
  EnterPlanMode: {
    permission: 'free',
    effects: 'none',
    shown: [{ args: {}, label: 'Entering plan mode' }],
    refused: [{ args: { id: 'mine' }, problem: /Unrecognized key/ }],
  },
  ExitPlanMode: {
    permission: 'free',
    effects: 'none',
    shown: [{ args: {}, label: 'Presenting plan and exiting plan mode' }],
    refused: [
      { args: { plan: 'x' }, problem: /Unrecognized key/ },
      { args: { options: [] }, problem: /^options: / },
      { args: { options: ['a', 'b', 'c', 'd'].map((label) => ({ label })) }, problem: /^options: / },
      { args: { options: [{ label: 'a' }, { label: 'a' }] }, problem: /^options: each label must be there once/ },
      { args: { options: [{ label: 'a', more: 1 }] }, problem: /^options\.0: Unrecognized key/ },
      { args: option(''), problem: /^options\.0\.label: / },
      { args: option('x'.repeat(81)), problem: /^options\.0\.label: / },
      ...['Approve', 'Reject', 'Revise', 'Reject and Exit'].map((label) => ({
        args: option(label),
        problem: /^options\.0\.label: must not be one of/,
      })),
    ],
  },
  Agent: {
    mainOnly: true,
    permission: 'free',
    effects: 'none',
    besideOthers: true,
    shown: [
      {
        args: task,
        label: 'Launching coder agent: count words',
        subject: 'coder',
        display: { kind: 'agent_call', agent_name: 'coder', prompt: 'Count' },
      },
      {
        args: { ...task, subagent_type: 'plan', run_in_background: true },
        label: 'Launching background plan agent: count words',
        subject: 'plan',
        display: { kind: 'agent_call', agent_name: 'plan', prompt: 'Count', background: true },
      },
    ],
    refused: [
      { args: {}, problem: /^prompt: .*; description: / },
      { args: { ...task, prompt: '' }, problem: /^prompt: / },
      { args: { ...task, run_in_background: 'yes' }, problem: /^run_in_background: / },
      { args: { ...task, subagent_type: 'nobody' }, problem: /Allowed types: coder, explore, plan/ },
      { args: { ...task, subagent_type: 'plan', resume: 'agent-1' }, problem: /exclude each other/ },
      { args: { ...task, resume: 'agent-1' }, problem: /no subagent/ },
    ],
  },
  AgentSwarm: {
    mainOnly: true,
    permission: 'free',
    effects: 'none',
    shown: [
      {
        args: swarm,
        label: 'Launching agent swarm: count words',
        display: { kind: 'agent_call', agent_name: 'swarm (2 subagents)', prompt: 'count words' },
      },
    ],
    refused: [
      { args: {}, problem: /^description: / },
      { args: { ...swarm, more: 1 }, problem: /Unrecognized key/ },
      { args: { ...swarm, items: 'a' }, problem: /^items: / },
      { args: { ...swarm, items: ['a'] }, problem: /at least 2 items/ },
      { args: { ...swarm, prompt_template: 'Count' }, problem: /must contain {{item}}/ },
      { args: { ...swarm, subagent_type: 'nobody' }, problem: /Allowed types: coder, explore, plan/ },
      { args: { description: 'on', resume_agent_ids: { 'agent-1': 'Go on' } }, problem: /no subagent/ },
    ],
  },
  TaskList: {
    permission: 'free',
    effects: 'none',
    shown: [
      { args: {}, label: 'Listing running tasks', subject: 'active' },
      { args: { active_only: false, limit: 100 }, label: 'Listing all tasks', subject: 'all' },
    ],
    refused: [
      { args: { limit: 0 }, problem: /^limit: / },
      { args: { limit: 101 }, problem: /^limit: / },
      { args: { limit: 1.5, active_only: 1 }, problem: /^active_only: .*; limit: / },
    ],
  },
  TaskOutput: {
    permission: 'free',
    effects: 'none',
    shown: [{ args: { task_id: 'bash-1' }, label: 'Reading the output of bash-1', subject: 'bash-1' }],
    refused: [
      { args: {}, problem: /^task_id: / },
      { args: { task_id: '' }, problem: /^task_id: / },
    ],
  },
  TaskStop: {
    permission: 'ask',
    effects: 'outside',
    shown: [{ args: { task_id: 'bash-1', reason: 'done' }, label: 'Stopping bash-1', subject: 'bash-1' }],
    refused: [
      { args: {}, problem: /^task_id: / },
      { args: { task_id: '', reason: 1 }, problem: /^task_id: .*; reason: / },
    ],
  },
  WaitFor: {
    permission: 'free',
    effects: 'none',
    shown: [
      { args: { timeout: 600 }, label: 'Waiting for any task', subject: 'any' },
      { args: { timeout: 1, task_id: 'bash-1' }, label: 'Waiting for bash-1', subject: 'bash-1' },
    ],
    refused: [
      { args: {}, problem: /^timeout: / },
      { args: { timeout: 0 }, problem: /^timeout: / },
      { args: { timeout: 601 }, problem: /^timeout: / },
      { args: { timeout: 1.5, task_id: '' }, problem: /^timeout: .*; task_id: / },
    ],
  },
  CreateGoal: {
    permission: 'free',
    effects: 'none',
    shown: [
      {
        args: { objective: ' Ship it ', completionCriterion: 'It runs' },
        label: 'Creating a goal',
        display: { kind: 'goal_start', objective: 'Ship it', completionCriterion: 'It runs', mode: 'manual' },
      },
    ],
    refused: [
      { args: {}, problem: /^objective: / },
      { args: { objective: '  ' }, problem: /must not be empty/ },
      { args: { objective: 'x'.repeat(4001) }, problem: /at most 4000 characters/ },
      { args: { objective: 'x', replace: 'yes' }, problem: /^replace: / },
    ],
  },
  FetchURL: {
    permission: 'free',
    effects: 'none',
    besideOthers: true,
    shown: [
      {
        args: { url: 'HTTPS://Example.com.:443/a#b' },
        label: 'Fetching: HTTPS://Example.com.:443/a#b',
        subject: 'https://example.com/a',
        display: { kind: 'url_fetch', url: 'HTTPS://Example.com.:443/a#b' },
      },
      {
        args: { url: `https://example.com/${'a'.repeat(31)}` },
        label: `Fetching: https://example.com/${'a'.repeat(30)}…`,
        subject: `https://example.com/${'a'.repeat(31)}`,
        display: { kind: 'url_fetch', url: `https://example.com/${'a'.repeat(31)}` },
      },
    ],
    refused: [
      { args: {}, problem: /^url: / },
      { args: { url: 'example.com' }, problem: /The page has no valid URL/ },
      { args: { url: 'file:///etc/passwd' }, problem: /only http: and https:/ },
      { args: { url: 'https://user:secret@example.com/' }, problem: /user name or password/ },
    ],
  },
  WebSearch: {
    permission: 'free',
    effects: 'none',
    besideOthers: true,
    shown: [
      {
        args: { query: 'why is the sky blue' },
        label: 'Searching: why is the sky blue',
        subject: 'why is the sky blue',
        display: { kind: 'search', query: 'why is the sky blue' },
      },
      {
        args: { query: `${'a'.repeat(39)}🚀` },
        label: `Searching: ${'a'.repeat(39)}…`,
        subject: `${'a'.repeat(39)}🚀`,
        display: { kind: 'search', query: `${'a'.repeat(39)}🚀` },
      },
    ],
    refused: [
      { args: {}, problem: /^query: / },
      { args: { query: '' }, problem: /^query: / },
    ],
  },
  GetGoal: {
    permission: 'free',
    effects: 'none',
    shown: [{ args: {}, label: 'Read the goal' }],
    refused: [{ args: 1, problem: /./ }],
  },
  SetGoalBudget: {
    permission: 'free',
    effects: 'none',
    shown: [{ args: { value: 2, unit: 'hours' }, label: 'Set a goal budget of 2 hours' }],
    refused: [
      { args: {}, problem: /^value: .*; unit: / },
      { args: { value: 0, unit: 'turns' }, problem: /^value: / },
      { args: { value: '2', unit: 'turns' }, problem: /^value: / },
      { args: { value: 1, unit: 'years' }, problem: /^unit: / },
      { args: { value: 25, unit: 'hours' }, problem: /at most 24 hours/ },
      { args: { value: 999, unit: 'milliseconds' }, problem: /at least 1 second/ },
    ],
  },
  CronCreate: {
    permission: 'ask',
    effects: 'outside',
    shown: [
      {
        args: { cron: ' */5  9-17 * * 1-5', prompt: 'Look' },
        label: 'Schedule a prompt at "*/5 9-17 * * 1-5"',
        subject: '{"cron":" */5  9-17 * * 1-5","prompt":"Look","recurring":true}',
        literal: true,
      },
    ],
    refused: [
      { args: {}, problem: /^cron: .*; prompt: / },
      { args: { cron: '* * * * *', prompt: '' }, problem: /^prompt: / },
      { args: { cron: '* * * * *', prompt: 'é'.repeat(4097) }, problem: /^prompt: at most 8192 bytes/ },
      { args: { cron: '* * * * *', prompt: 'x', recurring: 'no' }, problem: /^recurring: / },
      { args: { cron: '0 9 * * MON', prompt: 'x' }, problem: /cron\.expression_invalid.*names are not known/ },
      { args: { cron: '0 0 31 2 *', prompt: 'x' }, problem: /No such time comes within 5 years/ },
      { args: { cron: yesterday(), prompt: 'x', recurring: false }, problem: /must come within 350 days/ },
    ],
  },
  CronList: {
    permission: 'free',
    effects: 'none',
    shown: [{ args: {}, label: 'List scheduled jobs' }],
    refused: [{ args: 1, problem: /./ }],
  },
  CronDelete: {
    permission: 'ask',
    effects: 'outside',
    shown: [{ args: { id: 'x' }, label: 'Delete the scheduled job x' }],
    refused: [
      { args: {}, problem: /^id: / },
      { args: { id: '' }, problem: /^id: / },
    ],
  },
  select_tools: {
    permission: 'free',
    effects: 'none',
    shown: [{ args: { names: ['mcp__a__one', 'mcp__a__two'] }, label: 'Loading mcp__a__one, mcp__a__two' }],
    refused: [
      { args: {}, problem: /^names: / },
      { args: { names: [] }, problem: /^names: / },
      { args: { names: ['x'], more: 1 }, problem: /Unrecognized key/ },
    ],
  },
  UpdateGoal: {
    permission: 'free',
    effects: 'none',
    shown: [{ args: { status: 'complete' }, label: 'Set the goal to complete' }],
    refused: [
      { args: {}, problem: /^status: / },
      { args: { status: 'paused' }, problem: /^status: / },
    ],
  },
};

test('each has a row', () => {
  expect(Object.keys(table).toSorted()).toEqual(
    talk.main
      .tools()
      .map(({ tool }) => tool.name)
      .toSorted(),
  );
});

test.each(Object.entries(table))(
  '%s: class, effects, label, display, rule subject, and concurrent calls',
  async (name, row) => {
    expect(toolOf(name)).toMatchObject({ permission: row.permission, effects: row.effects });
    expect(toolOf(name).mainOnly).toBe(row.mainOnly);
    const reads = [{ kind: 'file', path: '/x', mode: 'read' } as const];
    for (const { args, label, subject, literal, display } of row.shown) {
      const match = literal ? 'literal' : 'glob';
      const call = await prepared(name, args);
      expect(call.label).toBe(label);
      expect(call.display).toEqual(display);
      expect(call.subject).toEqual(subject === undefined ? { match: 'literal' } : { text: subject, match });
      expect(accessesConflict(call.accesses, reads)).toBe(row.besideOthers !== true);
    }
  },
);

test.each(
  Object.entries(table).flatMap(([name, { refused }]) => refused.map(({ args, problem }) => ({ name, args, problem }))),
)('$name refuses $args', async ({ name, args, problem }) => {
  const checked = toolOf(name).check(args);
  if ('problem' in checked) {
    expect(checked.problem).toMatch(problem);
    return;
  }
  const refusal = await Promise.resolve()
    .then(() => checked.prepare(talk.main.context.environment()))
    .catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ToolInputError);
  expect(String(refusal)).toMatch(problem);
});
