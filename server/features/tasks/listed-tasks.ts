/** An agent's tasks for its tools and for clients: those of this process, then those of earlier processes. */
import type { SessionContext } from '#server/agent/contract/context.ts';
import { tailText } from '#server/text/truncate.ts';
import type { KnownTask } from '#server/journal/projections/tasks.ts';
import { mayStillRun } from '#server/journal/task-notices.ts';
import { stillRuns } from '#server/processes/process-identity.ts';
import { endLostProcess } from '#server/tasks/lost-process.ts';
import { outputPath, readOutputFile } from '#server/tasks/output-file.ts';
import { OUTPUT_MAX_BYTES } from '#server/tasks/output.ts';
import type { Task } from '#server/tasks/task.ts';
import type { TaskInfo } from '#schema/events/tasks.ts';
import { questionResult } from '../questions/result.ts';

export interface ListedTask {
  info: TaskInfo;
  /** The last bytes of its output or result text, in whole characters; undefined when there are none. */
  output(maxBytes: number): Promise<string | undefined>;
  /** Path of the complete output. */
  path?: string;
  /** Kills the process of a command that was lost with its server, if it still runs; returns whether it did. */
  endLost?(): Promise<boolean>;
}

type Session = Pick<SessionContext, 'tasks' | 'log' | 'dir'>;

/** This process's tasks in start order, then earlier ones. Foreground tasks are listed while they run. */
export function listedTasks(session: Session, agentId: string): ListedTask[] {
  const own = session.tasks.all().filter((task) => task.agentId === agentId);
  const shown = own.filter((task) => task.info().status === 'running' || task.info().detached);
  return [...shown.map(ofThisProcess), ...earlier(session, agentId).map((task) => ofEarlierRun(session, task))];
}

/** A task of the agent: any since the session was loaded, foreground tasks too, or one of an earlier process. */
export function findTask(session: Session, agentId: string, id: string): ListedTask | undefined {
  const task = session.tasks.get(id);
  if (task) return task.agentId === agentId ? ofThisProcess(task) : undefined;
  const known = earlier(session, agentId).find(({ info }) => info.taskId === id);
  return known && ofEarlierRun(session, known);
}

// Tasks that run in another process are not listed.
function earlier({ log, tasks }: Session, agentId: string): KnownTask[] {
  return [...log.state.tasks.tasks.values()].filter(
    ({ agent, info }) => agent === agentId && info.status !== 'running' && !tasks.get(info.taskId),
  );
}

function ofThisProcess(task: Task): ListedTask {
  const info = task.info();
  if (info.kind === 'process') return { info, output: task.output.tail, path: task.output.path };
  return { info, output: async (maxBytes) => said(task.result(), maxBytes) };
}

function ofEarlierRun({ log, dir, tasks }: Session, known: KnownTask): ListedTask {
  const { agent, info, file, process, result, answers } = known;
  if (info.kind !== 'process') {
    return {
      info,
      output: async (maxBytes) => said(result ?? (answers && questionResult(await log.load(answers))), maxBytes),
    };
  }
  const path = outputPath(dir, agent, info.taskId);
  return {
    info,
    path,
    async output(maxBytes) {
      const bytes = Math.min(maxBytes, OUTPUT_MAX_BYTES);
      const read = await readOutputFile(dir, path, bytes + 1, file?.bytes ?? OUTPUT_MAX_BYTES);
      const survives = process !== undefined && (await stillRuns(process));
      const written = survives
        ? Buffer.concat([read ?? Buffer.alloc(0), Buffer.from(survivalNote(process.pid))])
        : read;
      return (written && bytes > 0 && tailText(written, bytes)) || undefined;
    },
    ...(process ? { endLost: () => endLostProcess(process, tasks.settings().killGraceMs) } : {}),
  };
}

const survivalNote = (pid: number) => `\n[The server stopped while this command was running. ${mayStillRun(pid)}]\n`;

const said = (text: string | undefined, maxBytes: number) =>
  (maxBytes > 0 && text && tailText(Buffer.from(text), maxBytes)) || undefined;
