/** A server whose cloud is a scripted one; everything that it writes and sends can be searched for secrets. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { slotKey, slotName } from '#server/account/credential-slots.ts';
import { createLogger } from '#server/logging/log.ts';
import { loginFlowSchema, type LoginFlow } from '#schema/rest/oauth.ts';
import { manualClock, type ManualClock } from '../manual-clock.ts';
import { until } from '../patience.ts';
import { startServer, type TestServer, type TestServerOptions } from '../server.ts';
import { temporaryHome } from '../temporary-home.ts';
import { connect } from '../ws-client.ts';
import { cloudDuringTest, type Cloud } from './cloud.ts';
import { createCloudDeviceGrant, type CloudDeviceGrant } from './device-grant.ts';
import { storedToken } from './login.ts';
import { createCloudManagedApi, type CloudManagedApi } from './managed-api.ts';
import { createCloudOAuth, type CloudOAuth } from './oauth.ts';

export const MANAGED = 'managed:service-code';

export interface LoginServer {
  oauth: CloudOAuth;
  devices: CloudDeviceGrant;
  managed: CloudManagedApi;
  cloud: Cloud;
  clock: ManualClock;
  home: string;
  server: TestServer;
  api: TestServer['api'];
  /** `api` for requests that must succeed; returns `data`. */
  ok(method: string, path: string, body?: unknown): Promise<unknown>;
  /** The last login of the managed provider. */
  flow(): Promise<LoginFlow>;
  /** Waits until the last login has this status. */
  settled(status: LoginFlow['status']): Promise<LoginFlow>;
  /** Logs in with a code. */
  logIn(body?: object): Promise<LoginFlow>;
  /** Waits for the next poll's timer, calls `before`, then moves the clock by the interval. */
  nextPoll(seconds?: number, before?: () => void): Promise<void>;
  /** Confirms the newest code, and lets the next poll run. */
  confirm(): Promise<void>;
  /** The managed login's token file, for the cloud's addresses. */
  token(): Promise<Record<string, unknown> | undefined>;
  slot: string;
  config(): Promise<string>;
  /** Fails if a log line, reply or frame contains one of the secrets, or any token or device code of the cloud. */
  expectNoSecret(...secrets: string[]): void;
}

export interface LoginServerOptions extends TestServerOptions {
  /** Text of `config.toml`, after `[cloud]`. */
  config?: string;
  /** Variables; `pinned` sets the cloud by them instead of the file. */
  variables?: Record<string, string>;
  pinned?: boolean;
  /** Members of the replies with codes. */
  code?: object;
}

/** Starts cloud and server until the test has finished. */
export async function startLoginServer(options: LoginServerOptions = {}): Promise<LoginServer> {
  const { config = '', variables = {}, pinned = false, code = {}, ...rest } = options;
  const oauth = createCloudOAuth();
  const devices = createCloudDeviceGrant(oauth, code);
  const managed = createCloudManagedApi(oauth);
  const cloud = await cloudDuringTest(oauth.part, devices.part, managed.part);
  const clock = manualClock();
  const home = options.home ?? (await temporaryHome());
  const written: string[] = [];
  await writeFile(join(home, 'config.toml'), pinned ? config : `[cloud]\nurl = "${cloud.url}"\n${config}`);
  const env = { ...(pinned && { SERVICE_CODE_CLOUD_URL: cloud.url }), ...variables };
  const server = await startServer({
    clock,
    env: () => env,
    log: createLogger('debug', (line) => void written.push(line)),
    ...rest,
    home,
  });
  onTestFinished(() => server.close());
  const client = await connect(server);
  onTestFinished(() => client.close());
  client.onFrame((frame) => written.push(JSON.stringify(frame)));

  const api: TestServer['api'] = async (method, path, body) => {
    const reply = await server.api(method, path, body);
    written.push(JSON.stringify(reply));
    return reply;
  };
  const ok = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const reply = await api(method, path, body);
    expect(reply).toMatchObject({ code: 0 });
    return reply.data;
  };
  const flow = async () => loginFlowSchema.parse(await ok('GET', '/oauth/login'));
  const settled = (status: LoginFlow['status']) =>
    until(async () => {
      const found = await flow();
      return found.status === status && found;
    }, `a login that is ${status}`);
  async function nextPoll(seconds = 5, before = () => {}): Promise<void> {
    await until(() => clock.waits().includes(seconds * 1000), `a wait of ${seconds} s`);
    before();
    clock.advance(seconds * 1000);
  }
  const slot = slotName(slotKey(cloud.url, `${cloud.url}/managed/v1`)) ?? '';

  return {
    oauth,
    devices,
    managed,
    cloud,
    clock,
    home,
    server,
    api,
    ok,
    flow,
    settled,
    async logIn(body) {
      await ok('POST', '/oauth/login', body);
      await nextPoll(5, devices.confirm);
      return settled('authenticated');
    },
    nextPoll,
    confirm: () => nextPoll(5, devices.confirm),
    slot,
    token: () => storedToken(home, slot),
    config: () => readFile(join(home, 'config.toml'), 'utf8'),
    expectNoSecret(...secrets) {
      const sent = cloud.requests.flatMap(({ body, headers }) => {
        const fields = new URLSearchParams(body);
        const named = ['token', 'refresh_token', 'device_code'].map((name) => fields.get(name));
        return [...named, headers.authorization?.replace('Bearer ', '')];
      });
      const received = devices.tokens.flatMap(({ access_token, refresh_token }) => [access_token, refresh_token]);
      const all = new Set([...secrets, ...sent, ...received, ...devices.codes].filter((secret) => !!secret));
      for (const secret of all) expect(written.filter((line) => line.includes(secret ?? ''))).toEqual([]);
    },
  };
}
