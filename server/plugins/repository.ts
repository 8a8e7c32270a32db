/** The release and the commit that an address of a repository means now. */
import { readBounded } from '#server/net/read-bounded.ts';
import { get, limited, redirects, statusText, type Requests } from './requests.ts';
import type { RefKind, Repository } from './sources.ts';

const SHA = /^[0-9a-f]{40}$/;
const MAX_SHA_BYTES = 1024;
const RATE_LIMIT =
  'the rate limit of the host may be reached; an address with the full commit (/commit/<40 digits>) needs no such request';

export interface ResolvedRepository {
  owner: string;
  repo: string;
  ref: { kind: RefKind; value: string };
  /** The commit, 40 hexadecimal digits in lower case. */
  sha: string;
}

const site = ({ owner, repo }: Pick<Repository, 'owner' | 'repo'>) => `https://github.com/${owner}/${repo}`;

/** Address of the archive of a commit, which has the same content at each download. */
export const archiveUrl = (at: ResolvedRepository): string => `${site(at)}/archive/${at.sha}.zip`;

/** The tag of the latest release; undefined for a repository without one. Sends one request. */
export async function latestRelease(
  repository: Pick<Repository, 'owner' | 'repo'>,
  requests: Requests,
): Promise<string | undefined> {
  const address = `${site(repository)}/releases/latest`;
  const response = await get(address, requests);
  await response.body?.cancel();
  if (response.status === 404) return undefined;
  const location = response.headers.get('location') ?? '';
  if (!redirects(response) || !URL.canParse(location, address)) {
    throw new Error(`the latest release is unknown: HTTP ${statusText(response)}`);
  }
  // Without a release the redirect leads to the list of all releases.
  const [, tag] = /\/releases\/tag\/(.+)$/.exec(new URL(location, address).pathname) ?? [];
  return tag === undefined ? undefined : decodeURIComponent(tag);
}

async function commitOf({ owner, repo }: Repository, ref: string, requests: Requests): Promise<string> {
  const path = ref.split('/').map(encodeURIComponent).join('/');
  const address = `https://api.github.com/repos/${owner}/${repo}/commits/${path}`;
  const response = await get(address, requests, { accept: 'application/vnd.github.sha' });
  if (!response.ok) {
    await response.body?.cancel();
    const limit = response.status === 403 || response.status === 429 ? `: ${RATE_LIMIT}` : '';
    throw new Error(`HTTP ${statusText(response)}${limit}`);
  }
  const text = Buffer.from(await readBounded(response, MAX_SHA_BYTES))
    .toString()
    .trim()
    .toLowerCase();
  if (!SHA.test(text)) throw new Error('the reply is no commit');
  return text;
}

/** Finds the commit to download; each request may take `lookupMs`. */
export async function resolveRepository(
  repository: Repository,
  requests: Requests,
  lookupMs: number,
): Promise<ResolvedRepository> {
  const { owner, repo, ref: given } = repository;
  const look = <T>(work: (requests: Requests) => Promise<T>) =>
    limited(lookupMs, requests.signal, (signal) => work({ ...requests, signal }));
  const ref = given ?? (await currentRef());
  if (SHA.test(ref.value) && ref.kind === 'sha') return { owner, repo, ref, sha: ref.value };
  return { owner, repo, ref, sha: await look((limits) => commitOf(repository, ref.value, limits)) };

  async function currentRef(): Promise<ResolvedRepository['ref']> {
    const tag = await look((limits) => latestRelease(repository, limits));
    return tag === undefined ? { kind: 'branch', value: 'HEAD' } : { kind: 'tag', value: tag };
  }
}
