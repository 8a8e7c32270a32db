/** REST calls of the panel of files. */
import type { Rest } from '@service-code/client';

/** Upper limit of displayed entries of a directory. */
const LIST_LIMIT = 1000;
/** Directories of one request. */
const LIST_PATHS = 100;
const WINDOW_BYTES = 262_144;
const WHOLE_BYTES = 10_485_760;

type Calls = Pick<Rest, 'request'>;

/** Lists directories with the git marks of their entries; unreadable ones are omitted. */
export async function listDirectories(rest: Calls, session_id: string, paths: readonly string[]) {
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
    requests.push(rest.request('POST /api/v1/sessions/{session_id}/fs:list_many', { path: { session_id }, body }));
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

export const readFile = (rest: Calls, session_id: string, path: string, offset = 0) =>
  rest.request('POST /api/v1/sessions/{session_id}/fs:read', {
    path: { session_id },
    body: { path, offset, length: WINDOW_BYTES },
  });

/** A file as bytes, in base64; images are displayed whole or not at all. */
export const readWhole = (rest: Calls, session_id: string, path: string) =>
  rest.request('POST /api/v1/sessions/{session_id}/fs:read', {
    path: { session_id },
    body: { path, length: WHOLE_BYTES, encoding: 'base64' },
  });

export const gitStatus = (rest: Calls, session_id: string) =>
  rest.request('POST /api/v1/sessions/{session_id}/fs:git_status', { path: { session_id }, body: {} });

export const gitDiff = (rest: Calls, session_id: string, path: string) =>
  rest.request('POST /api/v1/sessions/{session_id}/fs:diff', { path: { session_id }, body: { path } });

export const searchFiles = (rest: Calls, session_id: string, query: string) =>
  rest.request('POST /api/v1/sessions/{session_id}/fs:search', { path: { session_id }, body: { query, limit: 50 } });
