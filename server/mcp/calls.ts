/** A call of a tool through a connection that may be dead without knowing it. */
import type { Progress } from '@modelcontextprotocol/client';
import { failed, type RunContext, type ToolResult } from '#server/tools/tool.ts';
import type { McpConnection } from './connect.ts';
import type { UsableTool } from './discovery.ts';
import { unlessAborted } from '#server/aborts.ts';
import { failureKind } from './failures.ts';
import { toolResultOf } from './results.ts';

/** At most ten a second. */
const PROGRESS_GAP_MS = 100;

export interface CallPlace {
  /** Of the server. */
  name: string;
  timeoutMs: number;
  connection(): McpConnection | undefined;
  /** Opens one where there is none. */
  connect(): Promise<McpConnection | { problem: string }>;
  /** The connection turned out to be dead. */
  lost(connection: McpConnection, why: string): void;
  /** The server wants a sign-in. */
  unauthorized(connection: McpConnection, error: unknown): Promise<void>;
}

type Outcome = { result: ToolResult } | { again: string };

/** Tries once more where the call did not get through; a call that was answered, or given up, is never repeated. */
export async function callThrough(
  tool: UsableTool,
  args: Record<string, unknown>,
  context: RunContext,
  place: CallPlace,
): Promise<ToolResult> {
  const present = place.connection();
  const connection = present ?? (await connected(context, place));
  if ('problem' in connection) return startFailed(place.name, connection.problem);
  const first = await attempt(connection);
  if ('result' in first) return first.result;
  // Whoever answers is asked again; the others get a new connection.
  const alive = place.connection() === connection && (await connection.alive());
  if (!alive) place.lost(connection, first.again);
  context.signal.throwIfAborted();
  const next = alive ? connection : await connected(context, place);
  if ('problem' in next)
    return startFailed(place.name, `${first.again}; it could not be reached again: ${next.problem}`);
  const second = await attempt(next);
  if ('result' in second) return second.result;
  return failed(`The call did not get through to the MCP server "${place.name}": ${second.again}`);

  async function attempt(through: McpConnection): Promise<Outcome> {
    const { signal } = context;
    try {
      const answer = await through.callTool(tool.rawName, args, {
        signal,
        timeoutMs: place.timeoutMs,
        onProgress: progressTo(context),
      });
      return { result: toolResultOf(tool.name, answer) };
    } catch (error) {
      const why = through.describe(error);
      switch (failureKind(error, signal)) {
        case 'aborted':
          throw error;
        case 'refused':
          return { result: failed(`The MCP server "${place.name}" answered with an error: ${why}`) };
        case 'unauthorized':
          await place.unauthorized(through, error);
          return { result: failed(`The MCP server "${place.name}" wants the user to sign in: ${why}`) };
        case 'timeout':
          // What it has done is not known, so it is not asked again; whether it lives decides what the next call finds.
          void through.alive().then((answers) => {
            if (!answers) place.lost(through, `the server did not answer within ${place.timeoutMs} ms`);
          });
          return {
            result: failed(
              `The MCP server "${place.name}" did not answer within ${place.timeoutMs} ms; the call was given up.`,
            ),
          };
        case 'lost':
          return { again: why };
      }
    }
  }
}

/** Ends with the call, whatever becomes of the attempt, which others may wait for too. */
function connected({ signal, progress }: RunContext, { name, connect }: CallPlace) {
  signal.throwIfAborted();
  progress({ kind: 'status', text: `reconnecting to the MCP server ${name}` });
  return unlessAborted(connect(), signal);
}

const startFailed = (name: string, problem: string) =>
  failed(`mcp.startup_failed: the MCP server "${name}" could not be started: ${problem}`);

function progressTo({ progress }: RunContext): (update: Progress) => void {
  let next = 0;
  return ({ progress: done, total, message }) => {
    const now = performance.now();
    if (now < next) return;
    next = now + PROGRESS_GAP_MS;
    progress({
      kind: 'progress',
      ...(total === undefined || total <= 0 ? {} : { percent: Math.round((100 * done) / total) }),
      ...(message === undefined ? {} : { text: message }),
    });
  };
}
