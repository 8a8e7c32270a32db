/** Built-in agent profiles: what an agent may use. */

export interface Profile {
  name: string;
  /** Tools the profile may use; MCP tools by glob. */
  tools: string[];
}

/** The user's own agent. */
export const mainProfile: Profile = {
  name: 'agent',
  tools: [
    'Read',
    'Write',
    'Edit',
    'Grep',
    'Glob',
    'Bash',
    'TaskList',
    'TaskOutput',
    'TaskStop',
    'WaitFor',
    'CronCreate',
    'CronList',
    'CronDelete',
    'ReadMediaFile',
    'TodoList',
    'Skill',
    'WebSearch',
    'Agent',
    'AgentSwarm',
    'FetchURL',
    'AskUserQuestion',
    'EnterPlanMode',
    'ExitPlanMode',
    'CreateGoal',
    'GetGoal',
    'SetGoalBudget',
    'UpdateGoal',
    'mcp__*',
  ],
};

export const profiles: ReadonlyMap<string, Profile> = new Map([[mainProfile.name, mainProfile]]);
