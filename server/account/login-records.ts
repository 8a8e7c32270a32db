/** The access to the configuration that logins and logouts need. */
import type { Caller } from '#schema/rest/caller.ts';
import type { LoginAddresses } from './addresses.ts';

/** The client that requested the change, and a mark by which the writer recognizes it. */
export interface ChangeAuthor {
  by?: Caller | undefined;
  origin?: symbol;
}

/** Both functions throw `persistence.failure`. */
export interface LoginRecords {
  /** Writes the managed provider's record. */
  write(login: LoginAddresses, author: ChangeAuthor): Promise<void>;
  /**
   * Removes a provider that has a login with all records and defaults that depend on it, in one write; does nothing for
   * other providers. `key` is the login's, which differs from that of the record if the environment pins an address.
   */
  remove(provider: string, key: string, author: ChangeAuthor): Promise<void>;
}
