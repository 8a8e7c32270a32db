/**
 * The warning that a setting changed while a command of the model ran. A command of the same user can read the server's
 * token, so the change may be its own: that cannot be prevented, but it must be visible.
 */
import type { Tasks } from '#server/tasks/tasks.ts';
import type { Caller } from '#schema/caller.ts';

export const SETTINGS_CHANGED = 'settings-changed-during-command';

/** The name that the page sends. */
const WEB_CLIENT = 'service-code-web';

/** A changed file is read after it has been left alone for a while; the command that wrote it may have ended then. */
const ENDED_RECENTLY_MS = 2000;

/** Whether a command runs in the foreground or the background, or ended a moment ago. `now` in ms. */
export const runsCommand = (tasks: Pick<Tasks, 'all'>, now: number): boolean =>
  tasks.all().some((task) => {
    const { kind, status, endedAt } = task.info();
    return kind === 'process' && (status === 'running' || (endedAt !== null && now - endedAt < ENDED_RECENTLY_MS));
  });

/** The message for people; `by` is undefined for a change of a file by hand. */
export function changeText(what: string, by: Caller | undefined): string {
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)}`;
  return `${sentence} while a command was running, ${origin(by)}.`;
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
