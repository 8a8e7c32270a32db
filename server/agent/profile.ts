/** Built-in agent profiles (engine.md §11.1). Only the user's own agent exists so far. */

export interface Profile {
  name: string;
  /** Tools the profile may use; MCP tools by glob. */
  tools: string[];
}

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
