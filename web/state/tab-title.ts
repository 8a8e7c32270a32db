/** The title of the browser's tab. */

export interface TabTitleFacts {
  /** Number of requests that wait for an answer, in all sessions. */
  waiting: number;
  /** The title of the selected session. */
  session?: string | undefined;
  /** The name of the selected session's workspace. */
  workspace?: string | undefined;
  /** The title that the server was started with. */
  serverTitle?: string | undefined;
}

const PRODUCT = 'Service Code';

/** Such as `(2) Fix the parser · my-project`. */
export function tabTitle({ waiting, session, workspace, serverTitle }: TabTitleFacts): string {
  const parts = session === undefined ? [serverTitle ?? PRODUCT] : [session, serverTitle ?? workspace];
  const title = parts.filter(Boolean).join(' · ');
  return waiting > 0 ? `(${waiting}) ${title}` : title;
}
