/** A tool call, retried a single time if the connection turns out to be stale. */
import type { Progress } from '@modelcontextprotocol/client';
import { failed, type RunContext, type ToolResult } from '#server/tools/tool.ts';
import type { McpConnection } from './connect.ts';
import type { UsableTool } from './discovery.ts';
import { abortable } from '#server/async/abortable.ts';
import { failureKind } from './failures.ts';
import { toolResultOf } from './results.ts';

/** Throttles progress to ten updates a second. */
const PROGRESS_GAP_MS = 100;

export interface CallTarget {
  /** Name of the server. */
  name: string;
  timeoutMs: number;
  /** The result of calls if the server is switched off, also of those that are running then; undefined otherwise. */
  refusal(): ToolResult | undefined;
  connection(): McpConnection | undefined;
  /** Opens a connection if there is none. */
  connect(): Promise<McpConnection | { problem: string }>;
  /** Called when the connection turns out to be lost. */
  lost(connection: McpConnection, why: string): void;
  /** Called when the server requires a sign-in. */
  unauthorized(connection: McpConnection, error: unknown): Promise<void>;
}

type Outcome = { result: ToolResult } | { again: string };

/** Retries a single time if the call did not get through; a call that was answered, or given up, is never repeated. */
export async function callThrough(
  tool: UsableTool,
  args: Record<string, unknown>,
  context: RunContext,
  place: CallTarget,
): Promise<ToolResult> {
  const refused = place.refusal();
  if (refused) return refused;
  const present = place.connection();
  const connection = present ?? (await connected(context, place));
  if ('problem' in connection) return place.refusal() ?? startFailed(place.name, connection.problem);
  const first = await attempt(connection);
  if ('result' in first) return first.result;
  // A server that answers a ping is retried on the same connection; otherwise a new one is opened.
  const alive = place.connection() === connection && (await connection.alive());
  if (!alive) place.lost(connection, first.again);
  context.signal.throwIfAborted();
  const next = alive ? connection : await connected(context, place);
  if ('problem' in next) {
    const why = `${first.again}; it could not be reached again: ${next.problem}`;
    return place.refusal() ?? startFailed(place.name, why);
  }
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
          // The call may have had effects, so it is not retried; the ping decides which connection the next call finds.
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

/** Settles with the call's abort; the connection attempt continues, since other calls may wait for it. */
function connected({ signal, progress }: RunContext, { name, connect }: CallTarget) {
  signal.throwIfAborted();
  progress({ kind: 'status', text: `reconnecting to the MCP server ${name}` });
  return abortable(connect(), signal);
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
