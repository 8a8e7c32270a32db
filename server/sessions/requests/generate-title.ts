/** Titles that the managed cloud generates from a session's conversation. */
import type { ManagedApi } from '#server/account/managed-api.ts';
import type { Config } from '#server/config/config.ts';
import { errorMessage, ServiceError } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import type { GenerateTitle } from '#schema/rest/title.ts';
import type { LiveSessions } from '../live/live-sessions.ts';
import type { LiveSession } from '../live/session.ts';
import { titleInput } from './title-input.ts';

const UNAVAILABLE =
  'No title was generated: this needs the experimental flag auto_session_title, a session without a generated or ' +
  'custom title, a prompt with text, a managed login, and an answer of its cloud.';

export interface TitlesDeps {
  live: Pick<LiveSessions, 'use' | 'persist'>;
  config: Pick<Config, 'resolveFlags'>;
  cloud: Pick<ManagedApi, 'chatTitle'>;
  log: Logger;
}

/**
 * Creates the function that generates and stores the title of a session. Concurrent calls without `force` share one
 * request. It throws `session.not_found`, `session.busy`, `session.title_unavailable`, `persistence.failure`.
 */
export function createTitles(deps: TitlesDeps): (id: string, request: GenerateTitle) => Promise<string> {
  const { live, config, cloud, log } = deps;
  const running = new Map<string, Promise<string | undefined>>();

  /** Returns the title; undefined if none may or can be generated. */
  async function generate(session: LiveSession, { force, source }: GenerateTitle): Promise<string | undefined> {
    if (!force && session.log.state.index.titleKind !== 'replaceable') return undefined;
    const input = await titleInput(session, source);
    if (input === '') return undefined;
    const title = await cloud.chatTitle(input).catch((error: unknown) => {
      log.info(`no title was generated: ${errorMessage(error)}`, { session: session.id });
    });
    if (!title) return undefined;
    await session.log.claim();
    if (!session.nameGenerated(title, { force })) return undefined;
    live.persist(session.id);
    return title;
  }

  async function shared(session: LiveSession, request: GenerateTitle): Promise<string | undefined> {
    if (request.force) return generate(session, request);
    const { id } = session;
    const present = running.get(id);
    if (present) return present;
    const run = generate(session, request).finally(() => running.delete(id));
    running.set(id, run);
    return run;
  }

  return (id, request) =>
    live.use(id, async (session) => {
      const title = config.resolveFlags().auto_session_title ? await shared(session, request) : undefined;
      if (title === undefined) throw new ServiceError('session.title_unavailable', UNAVAILABLE);
      return title;
    });
}
