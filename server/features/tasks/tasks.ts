/** Background tasks: the agent's tools for them, and notifications of their ends. */
import type { AgentContext, SessionContext, TurnInput, TurnRequest } from '#server/agent/contract/context.ts';
import type { Feature, LiveFeature } from '#server/agent/contract/feature.ts';
import { reminder } from '#server/agent/prompt/reminders.ts';
import { beginsAnew } from '#server/journal/projections/context.ts';
import { runningTasks, type KnownTask } from '#server/journal/projections/tasks.ts';
import { taskNotice, unreportedTasks } from '#server/journal/task-notices.ts';
import type { Task } from '#server/tasks/task.ts';
import type { Tool } from '#server/tools/tool.ts';
import { findTask, listedTasks } from './listed-tasks.ts';
import { createTaskListTool } from './tools/task-list.ts';
import { createTaskOutputTool } from './tools/task-output.ts';
import { createTaskStopTool } from './tools/task-stop.ts';
import { createWaitForTool } from './tools/wait-for.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { tasksTranscript } from './transcript.ts';

function makeTools({ id, session }: AgentContext) {
  const tasks = () => listedTasks(session, id);
  const find = (taskId: string) => findTask(session, id, taskId);
  const withoutWait = [createTaskListTool(tasks), createTaskOutputTool(find), createTaskStopTool(find)];
  return { withoutWait, all: [...withoutWait, createWaitForTool({ tasks, find, clock: session.clock })] };
}

function inputOf(task: KnownTask): TurnInput {
  const { record, message } = taskNotice(task);
  return { messages: [message], before: [record] };
}

/** The reminder of running tasks, for a context that no longer contains the calls that started them. */
function stillRunning(running: readonly KnownTask[]): ContextMessage {
  const lines = running.map(({ info: { taskId, kind, description } }) => `- ${taskId} (${kind}): ${description}`);
  const text = `These background tasks of yours are still running; you are told when one ends:\n${lines.join('\n')}`;
  return reminder('background_task_status', text);
}

function open(session: SessionContext): LiveFeature {
  const { log } = session;
  const tools = new Map<string, { all: readonly Tool[]; withoutWait: readonly Tool[] }>();

  /** The turn that notifies the agent of a task's end; undefined if a running turn has done so meanwhile. */
  function opening({ agentId, info }: Task): TurnRequest | undefined {
    const { taskId } = info();
    const task = unreportedTasks(log.state, agentId).find((one) => one.info.taskId === taskId);
    const input = task && inputOf(task);
    const origin = input?.messages[0]?.origin;
    return input && origin && { ...input, origin };
  }

  session.tasks.onEnded((task) => {
    // A running turn includes the notification in its next step.
    if (!log.state.activity.turns.has(task.agentId)) session.wake(task.agentId, () => opening(task));
  });

  return {
    tools(agent) {
      const made = tools.get(agent.id) ?? makeTools(agent);
      tools.set(agent.id, made);
      return session.config.resolveFlags().wait_for ? made.all : made.withoutWait;
    },
    reminders(agent) {
      const running = beginsAnew(agent.state()) ? runningTasks(log.state.tasks) : [];
      const own = running.filter((task) => task.agent === agent.id);
      return own.length === 0 ? [] : [stillRunning(own)];
    },
    pendingInput: (agent) => unreportedTasks(log.state, agent.id).map(inputOf),
  };
}

export const tasks: Feature = { name: 'tasks', transcript: tasksTranscript, open };
