/** Parser of the text that an install names: a directory, the URL of a zip archive, or a repository. */
import { isAbsolute } from 'node:path';
import { ServiceError } from '#server/errors/service-error.ts';

export type RefKind = 'branch' | 'tag' | 'sha';

export interface Repository {
  owner: string;
  repo: string;
  /** Undefined: the latest release, or the default branch if there is none. */
  ref: { kind: RefKind; value: string } | undefined;
}

export type PluginSource =
  | ({ kind: 'github'; original: string } & Repository)
  | { kind: 'zip-url'; original: string; url: string }
  | { kind: 'local-path'; original: string; path: string };

const HOSTS = new Set(['github.com', 'www.github.com']);
/** Names that need no escaping in an address and are no relative segments. */
const NAME = /^(?!\.{1,2}$)[\w.-]+$/;
const ABBREVIATED_SHA = /^[0-9a-f]{7,40}$/;

/** The decoded segments; undefined for an invalid encoding and for segments that are no part of a ref. */
function decoded(segments: readonly string[]): string[] | undefined {
  try {
    const names = segments.flatMap((segment) => decodeURIComponent(segment).split('/'));
    // eslint-disable-next-line no-control-regex
    return names.every((name) => !/^(\.{0,2})$|[\u0000-\u001f\u007f]/.test(name)) ? names : undefined;
  } catch {
    return undefined;
  }
}

function refOf([page, ...rest]: readonly string[]): Repository['ref'] {
  const value = decoded(page === 'releases' ? rest.slice(1) : rest)?.join('/');
  if (value === undefined || value === '') return undefined;
  if (page === 'tree') return { kind: ABBREVIATED_SHA.test(value) ? 'sha' : 'branch', value };
  if (page === 'releases' && rest[0] === 'tag') return { kind: 'tag', value };
  if (page === 'commit' && ABBREVIATED_SHA.test(value.toLowerCase()))
    return { kind: 'sha', value: value.toLowerCase() };
  return undefined;
}

/** The repository that an address names; undefined for any other address. */
export function repositoryOf(address: string): Repository | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.protocol !== 'https:' || url.port !== '' || !HOSTS.has(url.hostname)) return undefined;
  const [owner = '', name = '', ...page] = url.pathname.replace(/\/$/, '').split('/').slice(1);
  const repo = page.length === 0 ? name.replace(/\.git$/, '') : name;
  if (!NAME.test(owner) || !NAME.test(repo)) return undefined;
  if (page.length === 0) return { owner, repo, ref: undefined };
  const ref = refOf(page);
  return ref && { owner, repo, ref };
}

/** The normal form of an archive's address, by which checksums are stored. Throws for an invalid address. */
export function archiveAddress(address: string): string {
  const url = new URL(address);
  url.hash = '';
  return url.href;
}

/** Throws `validation.failed` for a text that is neither an address nor an absolute path. */
export function parseSource(text: string): PluginSource {
  const original = text.trim();
  const repository = repositoryOf(original);
  if (repository) return { kind: 'github', original, ...repository };
  if (/^https?:\/\//i.test(original)) {
    if (!URL.canParse(original)) throw new ServiceError('validation.failed', `Invalid URL: ${original}`);
    return { kind: 'zip-url', original, url: archiveAddress(original) };
  }
  if (isAbsolute(original)) return { kind: 'local-path', original, path: original };
  throw new ServiceError('validation.failed', `Plugin root must be an absolute path (got "${original}")`);
}
