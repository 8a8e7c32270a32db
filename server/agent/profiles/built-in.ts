/** Agent profiles: which tools an agent may use, which subagents it may start, and the role text of its prompt. */
import { gitContext } from '../prompt/git-context.ts';
import { CODER_ROLE, EXPLORE_ROLE, PLAN_ROLE } from '../prompt/roles.ts';
import type { Profile, Profiles } from '../contract/profile.ts';

export const DEFAULT_PROFILE = 'agent';
/** Profile of a subagent whose caller names none. */
export const DEFAULT_SUBAGENT_PROFILE = 'coder';

const SUMMARY = { minChars: 200, retries: 1 };

/** The main agent's tools, in the order in which models receive them; tools of MCP servers follow. */
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

/** Profile of the main agent. */
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
