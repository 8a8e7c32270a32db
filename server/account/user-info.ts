/** The account's user, from the cloud's reply. */
import * as z from 'zod';
import type { UserInfo } from '#schema/rest/oauth.ts';
import { decimal } from './decimal.ts';

/** Members of another type are treated as absent. */
const text = z.string().catch('');
const integer = decimal.transform(Math.trunc).pipe(z.int()).catch(0);
const noPhone = { country_code: '', number: '' };

const replySchema = z.object({
  user_id: z.string().min(1),
  nickname: text,
  status: text,
  region: text,
  user_level: integer,
  user_level_name: text,
  domain: integer,
  domain_name: text,
  global_id: text,
  bio: text,
  avatar: text,
  username: text,
  email: text,
  created_time: text,
  last_login_time: text,
  phone: z.object({ country_code: text, number: text }).catch(noPhone),
});

/** Returns undefined for a reply that is no object with a `user_id`. */
export function readUserInfo(reply: unknown): UserInfo | undefined {
  const user = replySchema.safeParse(reply).data;
  if (!user) return undefined;
  const { phone } = user;
  return {
    userId: user.user_id,
    nickname: user.nickname,
    status: user.status,
    region: user.region,
    userLevel: user.user_level,
    userLevelName: user.user_level_name,
    domain: user.domain,
    domainName: user.domain_name,
    ...(user.global_id && { globalId: user.global_id }),
    ...(user.bio && { bio: user.bio }),
    ...(user.avatar && { avatar: user.avatar }),
    ...(user.username && { username: user.username }),
    ...(user.email && { email: user.email }),
    ...(user.created_time && { createdTime: user.created_time }),
    ...(user.last_login_time && { lastLoginTime: user.last_login_time }),
    ...((phone.country_code || phone.number) && {
      phone: { countryCode: phone.country_code, number: phone.number },
    }),
  };
}
