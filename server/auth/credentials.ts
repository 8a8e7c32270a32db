/** Credentials that a client may present: the home's token, or the password of `SERVICE_CODE_PASSWORD`. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { TokenFile } from './token.ts';

export interface Credentials {
  /** True if `secret` is the token or the password; compared in constant time. */
  accepts(secret: string): Promise<boolean>;
}

/** `password` is stored only as a salted hash; an empty one means none. */
export function createCredentials(token: Pick<TokenFile, 'current'>, password: string | undefined): Credentials {
  const salt = randomBytes(32);
  const digest = (text: string) => createHmac('sha256', salt).update(text).digest();
  const passwordDigest = password ? digest(password) : undefined;
  return {
    async accepts(secret) {
      if (secret === '') return false;
      const expected = Buffer.from(await token.current());
      const offered = Buffer.from(secret);
      // All tokens have the same length, so comparing it reveals nothing; a password's length would, hence the hash.
      if (offered.length === expected.length && timingSafeEqual(offered, expected)) return true;
      return passwordDigest !== undefined && timingSafeEqual(digest(secret), passwordDigest);
    },
  };
}
