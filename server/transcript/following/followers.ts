/**
 * Registry of the followers of each session's transcripts. It includes sessions that are not loaded: after a load all
 * followers restart from baselines. A session without followers is not opened.
 */
import type { Clock } from '#server/clock.ts';
import type { Client } from '#server/events/frame-handler.ts';
import type { StreamPosition } from '#server/events/frame.ts';
import type { Logger } from '#server/logging/log.ts';
import type { RequestPayload } from '#schema/frames/request-frames.ts';
import type { OpenTranscripts } from '../live.ts';
import { startFeed, type Feed, type FollowedSession } from './feed.ts';
import { createFollower, type Follower } from './follower.ts';
import { followsAny, withoutAgents } from './grades.ts';

export interface TranscriptFollowers {
  /**
   * Subscribes a connection to a session and replaces its grades. Resolves to the position of the session's events when
   * everything up to the switch is queued; undefined for an unknown session. Throws `internal.error` for a damaged
   * journal.
   */
  follow(client: Client, request: RequestPayload<'subscribe_v2'>): Promise<StreamPosition | undefined>;
  /** Removes the grades of some agents, or of all. */
  unfollow(client: Client, request: RequestPayload<'unsubscribe_v2'>): void;
  /** Must be called for each session that is loaded. */
  loaded(session: FollowedSession): void;
}

export interface TranscriptFollowersDeps {
  /** Undefined unless it is loaded. */
  session(id: string): FollowedSession | undefined;
  /** Types of the events that the transcript conveys. */
  projected: ReadonlySet<string>;
  clock: Clock;
  log: Logger;
}

interface Following {
  /** Followers by connection. */
  followers: Map<string, Follower>;
  feed: Feed | undefined;
}

export function createTranscriptFollowers(deps: TranscriptFollowersDeps): TranscriptFollowers {
  const { session: find, projected, clock, log } = deps;
  const sessions = new Map<string, Following>();

  function forget(sessionId: string, following: Following, clientId: string): void {
    following.followers.delete(clientId);
    if (following.followers.size > 0 || sessions.get(sessionId) !== following) return;
    following.feed?.close();
    sessions.delete(sessionId);
  }

  function followerOf(client: Client, sessionId: string): { following: Following; follower: Follower } {
    const following = sessions.get(sessionId) ?? { followers: new Map(), feed: undefined };
    const known = following.followers.get(client.id);
    if (known) return { following, follower: known };
    const channel = client.session(sessionId);
    const follower = createFollower({
      channel,
      room: client.room,
      ended: () => forget(sessionId, following, client.id),
      projected,
      log,
    });
    sessions.set(sessionId, following);
    following.followers.set(client.id, follower);
    channel.attach(follower.companion);
    return { following, follower };
  }

  /** The feed of these transcripts; started if there is none, with baselines for all followers except `but`. */
  function feedOf(
    following: Following,
    session: FollowedSession,
    open: OpenTranscripts,
    but?: Follower,
  ): Feed | undefined {
    if (following.feed?.open === open) return following.feed;
    following.feed = undefined;
    let isOver = false;
    const feed = startFeed(
      {
        session,
        open,
        followers: () => following.followers.values(),
        over(again) {
          isOver = true;
          following.feed = undefined;
          if (again) resume(session);
        },
        clock,
        log,
      },
      but,
    );
    if (!isOver) following.feed = feed;
    return following.feed;
  }

  /** Sends the session's followers its present state and the changes after it. */
  function resume(session: FollowedSession): void {
    if (!sessions.has(session.id)) return;
    session.transcripts.open().then(
      (open) => {
        const following = sessions.get(session.id);
        if (following) feedOf(following, session, open);
      },
      (error: unknown) => log.error('transcripts cannot be followed', { sessionId: session.id, err: error }),
    );
  }

  return {
    async follow(client, { session_id: id, transcript, transcript_since = {} }) {
      // Opened before the subscription: reading takes time, and no event may be sent both as event and as operation.
      await find(id)?.transcripts.open();
      const position = await client.session(id).subscribe();
      if (!position) return undefined;
      const session = find(id);
      const open = await session?.transcripts.open();
      const grades = new Map(Object.entries(transcript));
      if (!followsAny(grades)) {
        drop(client, id);
        return position;
      }
      const { following, follower } = followerOf(client, id);
      // The connection may have closed meanwhile.
      if (!following.followers.has(client.id)) return position;
      const feed = session && open ? feedOf(following, session, open, follower) : undefined;
      if (feed) await feed.begin(follower, grades, new Map(Object.entries(transcript_since)));
      else follower.grades = grades;
      return position;
    },
    unfollow(client, { session_id: id, agent_ids }) {
      const follower = sessions.get(id)?.followers.get(client.id);
      if (!follower) return;
      const grades = withoutAgents(follower.grades, agent_ids ?? []);
      if (agent_ids && followsAny(grades)) follower.grades = grades;
      else drop(client, id);
    },
    loaded: resume,
  };

  function drop(client: Client, id: string): void {
    const following = sessions.get(id);
    const follower = following?.followers.get(client.id);
    if (!follower) return;
    client.session(id).attach(undefined);
    follower.companion.end();
  }
}
