/** Agent profiles: what an agent may use, whom it may start, and what its prompt says of its role. */
import { gitContext, type TaskPlace } from './prompt/git-context.ts';
import { CODER_ROLE, EXPLORE_ROLE, PLAN_ROLE } from './prompt/roles.ts';

export interface Profile {
  readonly name: string;
  /** What it is for, told to those who choose among profiles. */
  readonly description: string;
  /** Tools it may use, MCP tools by glob; `*` is every tool. */
  readonly tools: readonly string[] | '*';
  readonly disallowedTools?: readonly string[];
  /** Profiles that it may start as subagents; `*` is any. None unless given. */
  readonly subagents?: readonly string[] | '*';
  /** Found in the user's files rather than built in: the main agent may start it without naming it. */
  readonly discovered?: true;
  /** Stands in the system prompt in place of the user's own agent's. */
  readonly role?: string;
  /** The whole system prompt with placeholders, in place of the one that every agent has. */
  readonly template?: string;
  /** What is asked of the last answer of a run: a shorter one is asked for again, so many times. */
  readonly summary?: { readonly minChars: number; readonly retries: number };
  /** Text in front of the task of a run; empty for none. */
  readonly taskContext?: (place: TaskPlace) => Promise<string>;
}

/** By name, in the order in which they are listed. */
export type Profiles = ReadonlyMap<string, Profile>;

export const DEFAULT_PROFILE = 'agent';
/** What a subagent is unless its caller says otherwise. */
export const DEFAULT_SUBAGENT_PROFILE = 'coder';

const SUMMARY = { minChars: 200, retries: 1 };

/** The tools of the user's own agent, in the order in which models are told of them; those of servers stand behind. */
export const TOOL_ORDER: readonly string[] = [
  'Read',
  'Write',
  'Edit',
  'Bash',
  'Grep',
  'Glob',
  'ReadMediaFile',
  'FetchURL',
  'WebSearch',
  'TodoList',
  'AskUserQuestion',
  'EnterPlanMode',
  'ExitPlanMode',
  'Agent',
  'AgentSwarm',
  'TaskList',
  'TaskOutput',
  'WaitFor',
  'TaskStop',
  'Skill',
  'CreateGoal',
  'GetGoal',
  'SetGoalBudget',
  'UpdateGoal',
  'CronCreate',
  'CronDelete',
  'CronList',
];

/** The user's own agent. */
export const mainProfile: Profile = {
  name: DEFAULT_PROFILE,
  description: 'The agent that the user talks with.',
  tools: [...TOOL_ORDER, 'mcp__*'],
  subagents: ['coder', 'explore', 'plan'],
};

const coder: Profile = {
  name: DEFAULT_SUBAGENT_PROFILE,
  description: 'Works on a task of its own: reads, changes and runs code, then reports what it did.',
  tools: [
    'Bash',
    'CronCreate',
    'CronDelete',
    'CronList',
    'Edit',
    'EnterPlanMode',
    'ExitPlanMode',
    'Glob',
    'Grep',
    'Read',
    'ReadMediaFile',
    'Skill',
    'TaskList',
    'TaskOutput',
    'TaskStop',
    'TodoList',
    'WaitFor',
    'WebSearch',
    'FetchURL',
    'Write',
    'mcp__*',
  ],
  role: CODER_ROLE,
  summary: SUMMARY,
};

const explore: Profile = {
  name: 'explore',
  description:
    'Finds things out about the code base without changing it: where something is, how it works, what uses it.',
  tools: ['Bash', 'Read', 'ReadMediaFile', 'Glob', 'Grep', 'WebSearch', 'FetchURL'],
  role: EXPLORE_ROLE,
  summary: SUMMARY,
  taskContext: gitContext,
};

const plan: Profile = {
  name: 'plan',
  description: 'Thinks a change through without making it: the result is a plan of steps and files.',
  tools: ['Read', 'ReadMediaFile', 'Glob', 'Grep', 'WebSearch', 'FetchURL'],
  role: PLAN_ROLE,
};

export const builtinProfiles: Profiles = new Map(
  [mainProfile, coder, explore, plan].map((profile) => [profile.name, profile]),
);
