/** The user's information as rows of a list. */
import type { UserInfo } from '@service-code/client';
import { regionNames } from './login.ts';

/** The date of a time; another text verbatim. */
const dateOf = (time: string) => (Number.isNaN(Date.parse(time)) ? time : new Date(time).toISOString().slice(0, 10));

/** Spellings of the service. */
const regions: Record<string, string> = {
  REGION_CN: regionNames['mainland-cn'],
  REGION_GLOBAL: regionNames.global,
};

/** Label and text, only what the service has sent. No picture: the page loads nothing from other hosts. */
export function userRows(user: UserInfo): { label: string; text: string }[] {
  const { phone } = user;
  const rows: [label: string, text: string | undefined][] = [
    ['Name', user.nickname],
    ['User name', user.username],
    ['E-mail', user.email],
    ['Phone', phone && [phone.countryCode, phone.number].filter(Boolean).join(' ')],
    ['Plan', user.userLevelName],
    ['Organization', user.domainName],
    ['Region', regions[user.region] ?? user.region],
    ['About', user.bio],
    ['Created', user.createdTime && dateOf(user.createdTime)],
    ['Last login', user.lastLoginTime && dateOf(user.lastLoginTime)],
  ];
  return rows.flatMap(([label, text]) => (text?.trim() ? [{ label, text }] : []));
}
