/** The user's information as rows of a list. */
import type { UserInfo } from '@service-code/client';
import { t, type PlainKey } from '../../messages/messages.ts';
import { regionName, type Region } from './login.ts';

/** The date of a time; another text verbatim. */
const dateOf = (time: string) => (Number.isNaN(Date.parse(time)) ? time : new Date(time).toISOString().slice(0, 10));

/** Spellings of the service. */
const regions: Record<string, Region> = { REGION_CN: 'mainland-cn', REGION_GLOBAL: 'global' };

/** Label and text, only what the service has sent. No picture: the page loads nothing from other hosts. */
export function userRows(user: UserInfo): { label: string; text: string }[] {
  const { phone } = user;
  const region = regions[user.region];
  const rows: [label: PlainKey, text: string | undefined][] = [
    ['account.userNickname', user.nickname],
    ['account.userName', user.username],
    ['account.userEmail', user.email],
    ['account.userPhone', phone && [phone.countryCode, phone.number].filter(Boolean).join(' ')],
    ['account.userPlan', user.userLevelName],
    ['account.userOrganization', user.domainName],
    ['account.region', region ? regionName(region) : user.region],
    ['account.userAbout', user.bio],
    ['account.userCreated', user.createdTime && dateOf(user.createdTime)],
    ['account.userLastLogin', user.lastLoginTime && dateOf(user.lastLoginTime)],
  ];
  return rows.flatMap(([label, text]) => (text?.trim() ? [{ label: t(label), text }] : []));
}
