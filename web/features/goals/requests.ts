/** REST calls about the goal. */
import type { Rest } from '../../client/rest.ts';
import type { Goal } from '../../client/types.ts';

export const readGoal = (rest: Rest, sessionId: string): Promise<Goal | null> =>
  rest.request('GET', `sessions/${encodeURIComponent(sessionId)}/goal`);

export const setGoal = (rest: Rest, sessionId: string, goal_objective: string) =>
  rest.updateProfile(sessionId, { agent_config: { goal_objective } });

export const controlGoal = (rest: Rest, sessionId: string, goal_control: 'pause' | 'resume' | 'cancel') =>
  rest.updateProfile(sessionId, { agent_config: { goal_control } });
