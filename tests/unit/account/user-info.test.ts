/** The account's user, as clouds describe it. */
import { expect, it, test } from 'vitest';
import { readUserInfo } from '#server/account/user-info.ts';

const minimal = {
  userId: 'u1',
  nickname: '',
  status: '',
  region: '',
  userLevel: 0,
  userLevelName: '',
  domain: 0,
  domainName: '',
};

test.each([undefined, [], 'x', {}, { user_id: '' }, { user_id: 5 }])('%j is no user', (reply) => {
  expect(readUserInfo(reply)).toBeUndefined();
});

it('has defaults for missing and malformed members', () => {
  expect(readUserInfo({ user_id: 'u1' })).toEqual(minimal);
  const malformed = { nickname: 5, user_level: 'x', domain: {}, bio: 1, phone: 'x', email: '', created_time: null };
  expect(readUserInfo({ user_id: 'u1', ...malformed })).toEqual(minimal);
});

it('has all members of the reply that are part of the API', () => {
  const reply = {
    user_id: 'u1',
    nickname: 'N',
    status: 'USER_STATUS_NORMAL',
    region: 'REGION_CN',
    user_level: '3',
    user_level_name: 'Gold',
    domain: 2.9,
    domain_name: 'D',
    global_id: 'g',
    bio: 'b',
    avatar: 'http://a',
    username: 'n',
    email: 'e@x',
    created_time: '2026-01-01T00:00:00Z',
    last_login_time: '2026-02-01T00:00:00Z',
    phone: { country_code: '86', number: '***1' },
    secret: 'x',
  };
  expect(readUserInfo(reply)).toEqual({
    userId: 'u1',
    nickname: 'N',
    status: 'USER_STATUS_NORMAL',
    region: 'REGION_CN',
    userLevel: 3,
    userLevelName: 'Gold',
    domain: 2,
    domainName: 'D',
    globalId: 'g',
    bio: 'b',
    avatar: 'http://a',
    username: 'n',
    email: 'e@x',
    createdTime: '2026-01-01T00:00:00Z',
    lastLoginTime: '2026-02-01T00:00:00Z',
    phone: { countryCode: '86', number: '***1' },
  });
});

it('has a phone with one of its members, and none with neither', () => {
  expect(readUserInfo({ user_id: 'u', phone: { number: '1' } })?.phone).toEqual({ countryCode: '', number: '1' });
  expect(readUserInfo({ user_id: 'u', phone: { country_code: '', number: '' } })?.phone).toBeUndefined();
});
