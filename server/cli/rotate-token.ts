import { openHome } from '#server/home/home.ts';
import { listInstances } from '#server/home/instances.ts';
import { rotateToken } from '#server/auth/token.ts';
import { accessUrls } from './access-urls.ts';

/**
 * `service-code rotate-token`: returns the lines to print, the new token first, then the URLs of the oldest running
 * server. Servers close connections that used the old token, unless `keepConnections` is set.
 */
export async function runRotateToken(home: string, options: { keepConnections: boolean }): Promise<string[]> {
  await openHome(home);
  const token = await rotateToken(home, options);
  const [instance] = await listInstances(home);
  if (!instance) return [token];
  const { host, port, base_path: basePath = '', certificate } = instance;
  return [token, ...accessUrls(host, port, token, { basePath, secure: certificate !== undefined })];
}
