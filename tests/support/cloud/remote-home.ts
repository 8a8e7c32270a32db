/** A home with a managed login at a scripted cloud, and a relay of that cloud. */
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { slotKey } from '#server/account/credential-slots.ts';
import { cloudDuringTest, type Cloud } from './cloud.ts';
import { createCloudOAuth, type CloudOAuth, type IssuedToken } from './oauth.ts';
import { relayDuringTest, type Relay, type RelayOptions } from './relay.ts';

export interface RemoteCloud {
  cloud: Cloud;
  oauth: CloudOAuth;
  relay: Relay;
  /** Environment of servers that use this cloud. */
  env: Record<string, string>;
  /** Writes a login into a home; returns its token. */
  logIn(home: string): Promise<IssuedToken>;
}

export async function remoteCloudDuringTest(options: Partial<RelayOptions> = {}): Promise<RemoteCloud> {
  const oauth = createCloudOAuth();
  const cloud = await cloudDuringTest(oauth.part);
  const relay = await relayDuringTest({ accepts: oauth.accepts, ...options });
  return {
    cloud,
    oauth,
    relay,
    env: { SERVICE_CODE_CLOUD_URL: cloud.url, SERVICE_CODE_REMOTE_HOST: relay.url },
    async logIn(home) {
      const base = `${cloud.url}/managed/v1`;
      const key = slotKey(cloud.url, base);
      const token = oauth.issue();
      const expires_at = Math.floor(Date.now() / 1000) + token.expires_in;
      await mkdir(join(home, 'credentials'), { recursive: true, mode: 0o700 });
      await writeFile(
        join(home, 'credentials', `${key.replace('oauth/', '')}.json`),
        `${JSON.stringify({ ...token, expires_at }, null, 2)}\n`,
        { mode: 0o600 },
      );
      const config = join(home, 'config.toml');
      const written = await readFile(config, 'utf8').catch(() => '');
      if (written.includes('managed:service-code')) return token;
      await appendFile(
        config,
        [
          '[providers."managed:service-code"]',
          'type = "native"',
          `base_url = "${base}"`,
          'api_key = ""',
          `oauth = { storage = "file", key = "${key}", oauth_host = "${cloud.url}" }`,
          '',
        ].join('\n'),
        { mode: 0o600 },
      );
      return token;
    },
  };
}
