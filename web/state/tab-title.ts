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
  /** The title without a session and a title of the server. */
  product: string;
}

/** Such as `(2) Fix the parser · my-project`. */
export function tabTitle({ waiting, session, workspace, serverTitle, product }: TabTitleFacts): string {
  const parts = session === undefined ? [serverTitle ?? product] : [session, serverTitle ?? workspace];
  const title = parts.filter(Boolean).join(' · ');
  return waiting > 0 ? `(${waiting}) ${title}` : title;
}
