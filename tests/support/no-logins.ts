/** Logins for tests whose models and services have keys. */
import type { Account } from '#server/account/account.ts';

export const noLogins: Pick<Account, 'authorized' | 'noteUse'> = {
  authorized: () => Promise.reject(new Error('this test has no login')),
  noteUse: () => {},
};
