/**
 * The warning that a setting changed while a command of the model was running. A command runs as the same user and can
 * read the server's token, so it may have made the change: this cannot be prevented, but it must be visible.
 */
import { cutText } from '#server/text/truncate.ts';
import { groupRuns } from '#server/processes/process-group.ts';
import type { Tasks } from '#server/tasks/tasks.ts';
import { visibleLine } from '#server/text/visible-text.ts';
import type { Caller } from '#schema/rest/caller.ts';

/** The name that the page sends. */
const WEB_CLIENT = 'service-code-web';

/** Changed files are read with a debounce, and the command that wrote one may have exited by then. */
const ENDED_RECENTLY_MS = 2000;

/** Maximum characters of a name in the warning, so that the text after it stays visible. */
const NAME_CHARS = 120;

/** A change of a setting that decides what may run unasked. */
export interface GuardedChange {
  /** A clause without its end: "the permission rules were changed". Names of others in it pass through `quoted`. */
  what: string;
  /** The client that made it; undefined for a change of a file by hand. */
  by: Caller | undefined;
  /** The time (ms) after which it was made; default: a moment ago. */
  since?: number;
}

/** The time since which a change that is noticed at `now` may have been made; both in ms. */
export const recently = (now: number): number => now - ENDED_RECENTLY_MS;

/**
 * Whether a command runs in the foreground or the background, ended after `since` (ms), or left processes of its group
 * running. A process that moved to another group is not found.
 */
export async function ranCommand(tasks: Pick<Tasks, 'all'>, since: number): Promise<boolean> {
  const commands = tasks.all().flatMap((task) => {
    const info = task.info();
    return info.kind === 'process' ? [info] : [];
  });
  if (commands.some(({ status, endedAt }) => status === 'running' || (endedAt !== null && endedAt > since)))
    return true;
  // The system may have reused the id of an exited group; a false warning is acceptable.
  for (const { pid } of commands) if (await groupRuns(pid)) return true;
  return false;
}

/** A title or a path for a sentence: hidden characters visible, cut, in quotes that it cannot close. */
export function quoted(name: string): string {
  const line = visibleLine(name).replaceAll('"', "'");
  return `"${line.length > NAME_CHARS ? `${cutText(line, NAME_CHARS)}…` : line}"`;
}

/** Returns the message for users. */
export function changeText({ what, by }: Pick<GuardedChange, 'what' | 'by'>): string {
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)}`;
  return visibleLine(`${sentence} while a command was running, ${origin(by)}.`);
}

function origin(by: Caller | undefined): string {
  if (!by) return 'not through this server';
  return by.client_name === WEB_CLIENT ? `by ${callerText(by)}, which calls itself the page` : `by ${callerText(by)}`;
}

/** A name for people: the client's name, else the first product of its user agent, with its address. */
function callerText({ client_name, user_agent, remote_address }: Caller): string {
  const name = client_name ?? user_agent?.split(' ', 1)[0] ?? 'an unnamed client';
  return remote_address === undefined ? name : `${name} (${remote_address})`;
}
