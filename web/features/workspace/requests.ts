/** REST calls of the panel of files. */
import type { Rest } from '../../client/rest.ts';
import type { FileContent, FileHits, FileLists, GitDiff, GitStatusReply } from '../../client/types.ts';

/** Upper limit of displayed entries of a directory. */
const LIST_LIMIT = 1000;
/** Directories of one request. */
const LIST_PATHS = 100;
const WINDOW_BYTES = 262_144;
const WHOLE_BYTES = 10_485_760;

type Calls = Pick<Rest, 'request'>;

const act = <T>(rest: Calls, sessionId: string, action: string, body: object) =>
  rest.request<T>('POST', `sessions/${encodeURIComponent(sessionId)}/fs:${action}`, { body });

/** Lists directories with the git marks of their entries; unreadable ones are omitted. */
export async function listDirectories(rest: Calls, sessionId: string, paths: readonly string[]) {
  const requests = [];
  for (let at = 0; at < paths.length; at += LIST_PATHS) {
    const body = {
      paths: paths.slice(at, at + LIST_PATHS),
      limit: LIST_LIMIT,
      show_hidden: true,
      follow_gitignore: false,
      exclude_globs: ['.git', '**/.git'],
      include_git_status: true,
    };
    requests.push(act<FileLists>(rest, sessionId, 'list_many', body));
  }
  const replies = await Promise.all(requests);
  return new Map(
    replies.flatMap(({ results, truncated_paths }) =>
      Object.entries(results).map(
        ([path, entries]) => [path, { entries, cut: truncated_paths.includes(path) }] as const,
      ),
    ),
  );
}

export const readFile = (rest: Calls, sessionId: string, path: string, offset = 0) =>
  act<FileContent>(rest, sessionId, 'read', { path, offset, length: WINDOW_BYTES });

/** A file as bytes, in base64; images are displayed whole or not at all. */
export const readWhole = (rest: Calls, sessionId: string, path: string) =>
  act<FileContent>(rest, sessionId, 'read', { path, length: WHOLE_BYTES, encoding: 'base64' });

export const gitStatus = (rest: Calls, sessionId: string) => act<GitStatusReply>(rest, sessionId, 'git_status', {});

export const gitDiff = (rest: Calls, sessionId: string, path: string) =>
  act<GitDiff>(rest, sessionId, 'diff', { path });

export const searchFiles = (rest: Calls, sessionId: string, query: string) =>
  act<FileHits>(rest, sessionId, 'search', { query, limit: 50 });
