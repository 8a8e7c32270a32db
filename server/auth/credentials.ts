/** What a caller may show: the home's token, or the password of `SERVICE_CODE_PASSWORD`. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { TokenFile } from './token.ts';

export interface Credentials {
  /** Whether `secret` is the token or the password; compared in constant time. */
  accepts(secret: string): Promise<boolean>;
}

/** `password` is kept only as a salted hash; empty means none. */
export function createCredentials(token: Pick<TokenFile, 'current'>, password: string | undefined): Credentials {
  const salt = randomBytes(32);
  const digest = (text: string) => createHmac('sha256', salt).update(text).digest();
  const passwordDigest = password ? digest(password) : undefined;
  let expected = { token: '', digest: digest('') };
  return {
    async accepts(secret) {
      if (secret === '') return false;
      const offered = digest(secret);
      const current = await token.current();
      if (expected.token !== current) expected = { token: current, digest: digest(current) };
      const isToken = timingSafeEqual(offered, expected.digest);
      const isPassword = passwordDigest !== undefined && timingSafeEqual(offered, passwordDigest);
      return isToken || isPassword;
    },
  };
}
