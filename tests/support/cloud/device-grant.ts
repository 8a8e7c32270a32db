/** The cloud's device grant: issues codes, and a token for a code that a user has confirmed. */
import { randomBytes } from 'node:crypto';
import type { CloudPart, CloudReply } from './cloud.ts';
import type { CloudOAuth, IssuedToken } from './oauth.ts';

type Scripted = CloudReply | 'hang' | (() => Promise<CloudReply | 'hang'>);

export interface CloudDeviceGrant {
  /** Answers `/api/oauth/device_authorization`, and the polls of `/api/oauth/token`. */
  part: CloudPart;
  /** The device codes issued so far. */
  codes: string[];
  /** The device codes of all polls, in order. */
  polls: string[];
  /** Replaces the answers to the next requests of codes. */
  answerCode(...replies: Scripted[]): void;
  /** Replaces the answers to the next polls. */
  answerPoll(...replies: Scripted[]): void;
  /** Confirms the newest code: its next poll returns a token. */
  confirm(): void;
  /** The tokens that polls have returned. */
  tokens: IssuedToken[];
}

export const oauthError = (error: string, description?: string): CloudReply => ({
  status: 400,
  body: { error, ...(description !== undefined && { error_description: description }) },
});

/** @param options members of the replies with codes. */
export function createCloudDeviceGrant(oauth: CloudOAuth, options: object = {}): CloudDeviceGrant {
  const scriptedCodes: Scripted[] = [];
  const scriptedPolls: Scripted[] = [];
  const confirmed = new Set<string>();
  const codes: string[] = [];
  const polls: string[] = [];
  const tokens: IssuedToken[] = [];

  const scriptedAnswer = async (list: Scripted[]) => {
    const next = list.shift();
    return typeof next === 'function' ? next() : next;
  };

  function issueCode(host: string): CloudReply {
    const device_code = `device-${randomBytes(24).toString('base64url')}`;
    codes.push(device_code);
    const user_code = `BCDF-GHJ${'KLMNPQRSTVWXZ'[codes.length - 1] ?? 'Z'}`;
    const verification_uri = `http://${host}/device`;
    const verification_uri_complete = `${verification_uri}?user_code=${user_code}`;
    return {
      body: {
        device_code,
        user_code,
        verification_uri,
        verification_uri_complete,
        expires_in: 900,
        interval: 5,
        ...options,
      },
    };
  }

  function poll(code: string): CloudReply {
    if (!codes.includes(code)) return oauthError('invalid_grant');
    if (!confirmed.has(code)) return oauthError('authorization_pending', 'The user has not confirmed the code yet');
    // A code yields one token.
    codes.splice(codes.indexOf(code), 1);
    const token = oauth.issue();
    tokens.push(token);
    return { body: token };
  }

  return {
    codes,
    polls,
    tokens,
    answerCode: (...replies) => void scriptedCodes.push(...replies),
    answerPoll: (...replies) => void scriptedPolls.push(...replies),
    confirm: () => void confirmed.add(codes.at(-1) ?? ''),
    async part({ method, path, body, headers }) {
      if (method !== 'POST') return undefined;
      const fields = new URLSearchParams(body);
      if (path === '/api/oauth/device_authorization') {
        return (await scriptedAnswer(scriptedCodes)) ?? issueCode(headers.host ?? '');
      }
      const isPoll = fields.get('grant_type') === 'urn:ietf:params:oauth:grant-type:device_code';
      if (path !== '/api/oauth/token' || !isPoll) return undefined;
      if (fields.get('client_id') !== 'service-code-local') return { status: 401, body: { error: 'invalid_client' } };
      const code = fields.get('device_code') ?? '';
      polls.push(code);
      return (await scriptedAnswer(scriptedPolls)) ?? poll(code);
    },
  };
}
