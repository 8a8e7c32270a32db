/** A server whose remote control uses a scripted cloud. */
import { onTestFinished } from 'vitest';
import { until } from '../patience.ts';
import { startServer, type TestServer, type TestServerOptions } from '../server.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { remoteCloudDuringTest, type RemoteCloud } from './remote-home.ts';

export interface Remote extends RemoteCloud {
  server: TestServer;
  status(): Promise<Record<string, unknown>>;
  start(): ReturnType<TestServer['api']>;
  stop(): ReturnType<TestServer['api']>;
}

/** Starts a server with a login at a scripted cloud; it is closed when the test has finished. */
export async function startRemote(
  options: TestServerOptions & { loggedIn?: boolean; cloud?: RemoteCloud } = {},
): Promise<Remote> {
  const { loggedIn = true, cloud = await remoteCloudDuringTest(), ...given } = options;
  const home = given.home ?? (await temporaryDirectory());
  if (loggedIn) await cloud.logIn(home);
  const server = await startServer({ ...given, home, env: () => ({ ...process.env, ...cloud.env }) });
  onTestFinished(server.close);
  const status = async () => (await server.api('GET', '/remote-control')).data as Record<string, unknown>;
  return {
    ...cloud,
    server,
    status,
    async start() {
      const request = () => server.api('POST', '/remote-control', { enabled: true });
      const answer = await request();
      // On a busy machine a start may take longer than the 15 s of its answer.
      if (given.clock || answer.code !== 0 || (await status()).state !== 'starting') return answer;
      await until(async () => (await status()).state === 'on');
      return request();
    },
    stop: () => server.api('POST', '/remote-control', { enabled: false }),
  };
}

/** A request of a browser through the relay. */
export const browse = ({ relay, server }: Remote, path: string, init: RequestInit = {}) =>
  fetch(`${relay.url}${relay.prefix()}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${server.token}`, ...init.headers },
  });
