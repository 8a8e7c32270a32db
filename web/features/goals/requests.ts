/** REST calls about the goal. */
import type { Goal, Rest } from '@service-code/client';

export const readGoal = (rest: Rest, session_id: string): Promise<Goal | null> =>
  rest.request('GET /api/v1/sessions/{session_id}/goal', { path: { session_id } });

export const setGoal = (rest: Rest, sessionId: string, goal_objective: string) =>
  rest.updateProfile(sessionId, { agent_config: { goal_objective } });

export const controlGoal = (rest: Rest, sessionId: string, goal_control: 'pause' | 'resume' | 'cancel') =>
  rest.updateProfile(sessionId, { agent_config: { goal_control } });
