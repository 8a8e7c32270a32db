/** The cloud's OAuth host: tokens with single-use refresh tokens. */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { CloudPart, CloudReply } from './cloud.ts';

export interface IssuedToken {
  access_token: string;
  refresh_token: string;
  expires_in: number;
  token_type: string;
  scope: string;
}

export interface CloudOAuth {
  /** Answers `/api/oauth/token` (refresh grant) and `/api/oauth/revoke`. */
  part: CloudPart;
  /** Issues a token of a new grant, such as after a login. */
  issue(): IssuedToken;
  /** All tokens, in order. */
  issued: IssuedToken[];
  /** The refresh tokens of all refresh requests, in order. */
  refreshes: string[];
  /** The refresh tokens that were revoked. */
  revoked: string[];
  /** Replaces the answers to the next token requests; a function may wait. */
  answerNext(...replies: (CloudReply | 'hang' | (() => Promise<CloudReply | 'hang' | undefined>))[]): void;
  /** Makes resources refuse an access token. */
  end(accessToken: string): void;
  /** Makes resources refuse all access tokens, also those issued later. */
  acceptNothing(): void;
  /** Leaves further revocations without an answer. */
  hangRevocations(): void;
  /** Refuses all refresh tokens issued so far. */
  endGrants(): void;
  /** Whether a request has an access token that is accepted. */
  accepts(headers: IncomingHttpHeaders): boolean;
}

const random = (prefix: string) => `${prefix}-${randomBytes(12).toString('base64url')}`;

/** @param options.lifeS life of an access token, in seconds. */
export function createCloudOAuth({ lifeS = 3600 }: { lifeS?: number } = {}): CloudOAuth {
  const accessTokens = new Set<string>();
  const refreshTokens = new Set<string>();
  const scripted: (CloudReply | 'hang' | (() => Promise<CloudReply | 'hang' | undefined>))[] = [];
  const issued: IssuedToken[] = [];
  const refreshes: string[] = [];
  const revoked: string[] = [];
  let acceptsAny = true;
  let answersRevocations = true;

  function issue(): IssuedToken {
    const secrets = { access_token: random('access'), refresh_token: random('refresh') };
    accessTokens.add(secrets.access_token);
    refreshTokens.add(secrets.refresh_token);
    const token = { ...secrets, expires_in: lifeS, token_type: 'Bearer', scope: 'all' };
    issued.push(token);
    return token;
  }

  function refresh(token: string): CloudReply {
    // Valid for a single use: a renewal that is sent twice is detected.
    if (!refreshTokens.delete(token)) {
      return { status: 400, body: { error: 'invalid_grant', error_description: 'The grant was refused' } };
    }
    return { body: issue() };
  }

  return {
    issued,
    refreshes,
    revoked,
    issue,
    async part({ method, path, body }) {
      if (method !== 'POST') return undefined;
      const fields = new URLSearchParams(body);
      if (path === '/api/oauth/revoke') {
        revoked.push(fields.get('token') ?? '');
        refreshTokens.delete(fields.get('token') ?? '');
        return answersRevocations ? { body: '' } : 'hang';
      }
      if (path !== '/api/oauth/token' || fields.get('grant_type') !== 'refresh_token') return undefined;
      if (fields.get('client_id') !== 'service-code-local') return { status: 401, body: { error: 'invalid_client' } };
      const token = fields.get('refresh_token') ?? '';
      refreshes.push(token);
      const next = scripted.shift();
      const reply = typeof next === 'function' ? await next() : next;
      return reply ?? refresh(token);
    },
    answerNext: (...replies) => void scripted.push(...replies),
    end: (accessToken) => void accessTokens.delete(accessToken),
    acceptNothing: () => void (acceptsAny = false),
    hangRevocations: () => void (answersRevocations = false),
    endGrants: () => refreshTokens.clear(),
    accepts: ({ authorization }) => acceptsAny && accessTokens.has((authorization ?? '').replace(/^Bearer /, '')),
  };
}
