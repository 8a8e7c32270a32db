import { describe, expect, it } from 'vitest';
import { createRouteTable, publicPath } from '#utils/http/route-table.ts';

const unused = () => Promise.reject(new Error('not loaded here'));
const table = createRouteTable(
  [
    'get /api/v1/meta',
    'get /api/v1/sessions',
    'get /api/v1/sessions/:session_id',
    'get /api/v1/sessions/:session_id/messages/:message_id',
    'post /api/v1/sessions/:session_id/actions/abort',
    'post /api/v1/sessions/:session_id/actions/archive',
    'post /api/v1/sessions/:session_id/prompts',
    'post /api/v1/sessions/:session_id/prompts/actions/steer',
    'post /api/v1/sessions/:session_id/prompts/:prompt_id/actions/abort',
    'post /api/v1/sessions/:session_id/questions/:question_id',
    'post /api/v1/sessions/:session_id/questions/:question_id/actions/dismiss',
    'post /api/v1/sessions/:session_id/approvals/:approval_id',
    'get /api/v1/providers/:provider_id',
    'get /api/v1/fs/actions/browse',
    'get /api/v1/oauth/login',
    'delete /api/v1/oauth/:name',
    'post /api/v1/sessions/:session_id/fs/actions/stat',
    'get /api/v1/sessions/:session_id/fs/**:path/actions/download',
  ].map((line) => {
    const [method = '', route = ''] = line.split(' ');
    return { method, route, load: unused };
  }),
);

/** `route {params}`, `!tail @field` for an unsupported action, undefined for an unknown route. */
function match(method: string, path: string): string | undefined {
  const found = table.match(method, path.split('/').slice(1));
  if (!found) return undefined;
  if (found.kind === 'plain') return 'plain';
  if (found.kind === 'unsupported-action') return `!${found.tail} @${found.field}`;
  return `${found.entry.route} ${JSON.stringify(found.params)}`;
}

describe('route table', () => {
  it.each([
    ['GET', '/api/v1/meta', '/api/v1/meta {}'],
    ['HEAD', '/api/v1/meta', '/api/v1/meta {}'],
    ['POST', '/api/v1/meta', undefined],
    ['GET', '/api/v1/Meta', undefined],
    ['GET', '/api/v1/meta/', undefined],
    ['GET', '/api//v1/meta', undefined],
    ['GET', '/api/v1/sessions/', '/api/v1/sessions/:session_id {"session_id":""}'],
    ['GET', '/api/v1/sessions/x/', undefined],
    ['GET', '/api/v1/sessions//messages/m', undefined],
    ['GET', '/api/v1/sessions/a:b', '/api/v1/sessions/:session_id {"session_id":"a:b"}'],
    ['GET', '/api/v1/providers/managed:x', '/api/v1/providers/:provider_id {"provider_id":"managed:x"}'],
    ['DELETE', '/api/v1/oauth/login', '/api/v1/oauth/:name {"name":"login"}'],
  ])('%s %s', (method, path, expected) => expect(match(method, path)).toBe(expected));

  it.each([
    ['s:abort', '/api/v1/sessions/:session_id/actions/abort {"session_id":"s"}'],
    ['a:b:archive', '/api/v1/sessions/:session_id/actions/archive {"session_id":"a:b"}'],
    ['s:foo', '!s:foo @session_id'],
    ['s:', '!s: @session_id'],
    [':abort', '!:abort @session_id'],
    ['s', '!s @session_id'],
    ['', '! @session_id'],
  ])('POST sessions/%s', (tail, expected) => expect(match('POST', `/api/v1/sessions/${tail}`)).toBe(expected));

  it('treats colons as actions only if the method has some', () => {
    const base = '/api/v1/sessions/s';
    expect(match('POST', `${base}/approvals/x:y`)).toContain('"approval_id":"x:y"');
    expect(match('POST', `${base}/questions/q`)).toContain('questions/:question_id {');
    expect(match('POST', `${base}/questions/q:dismiss`)).toContain('/actions/dismiss');
    expect(match('POST', `${base}/questions/q:foo`)).toBe('!q:foo @question_id');
    expect(match('POST', `${base}/prompts:steer`)).toContain('prompts/actions/steer {"session_id":"s"}');
    expect(match('POST', `${base}/prompts:foo`)).toBe('!:foo @prompt_id');
    expect(match('POST', `${base}/prompts`)).toContain('/prompts {');
    expect(match('GET', '/api/v1/fs:browse')).toContain('/fs/actions/browse');
    expect(match('GET', '/api/v1/fs:foo')).toBe('!fs:foo @');
    expect(match('GET', '/api/v1/fs')).toBeUndefined();
  });

  it('passes the rest of a path to a catch-all, including its tail', () => {
    const base = '/api/v1/sessions/s/fs';
    const taken = (path: string) =>
      `/api/v1/sessions/:session_id/fs/**:path/actions/download ${JSON.stringify({ session_id: 's', path })}`;
    for (const path of ['a:download', 'a/b/../c:x', '', '/', '/x//', 'actions/stat']) {
      expect(match('GET', `${base}/${path}`)).toBe(taken(path));
    }
    expect(match('HEAD', `${base}/a`)).toBe(taken('a'));
    expect(match('POST', `${base}/a:download`)).toBeUndefined();
    expect(match('GET', base)).toBeUndefined();
    expect(match('GET', '/api/v1/sessions//fs/a:download')).toBeUndefined();
    expect(match('POST', `${base}:stat`)).toContain('fs/actions/stat {"session_id":"s"}');
    expect(match('POST', `${base}:nope`)).toBe('!fs:nope @');
  });

  it('never reaches an action by its file path', () => {
    expect(match('POST', '/api/v1/sessions/s/actions/abort')).toBeUndefined();
    expect(match('GET', '/api/v1/fs/actions/browse')).toBeUndefined();
  });

  it('displays actions in the form of clients', () => {
    expect(publicPath('/api/v1/sessions/:session_id/actions/fork')).toBe('/api/v1/sessions/:session_id:fork');
    expect(publicPath('/api/v1/fs/actions/open-in')).toBe('/api/v1/fs:open-in');
  });
});

describe('plain files in the table', () => {
  const mixed = createRouteTable(
    ['get /things/:id', 'get /things/:id/parts', 'post /things/:id/actions/do', 'post /deep/**:rest', 'get /both'].map(
      (line) => {
        const [method = '', route = ''] = line.split(' ');
        return { method, route, load: unused };
      },
    ),
    [
      { route: '/things/special' },
      { route: '/things/posted', method: 'post' },
      { route: '/things/:other/parts/:part', method: 'get' },
      { route: '/plain/**', method: 'get' },
      { route: '/deep/:id', method: 'get' },
      { route: '/both', method: 'post' },
      { route: '/plain/actions/do', method: 'post' },
      { route: '/only', method: 'options' },
      { route: '/star/*', method: 'get' },
    ],
  );
  const kind = (method: string, path: string) => {
    const found = mixed.match(method, path.split('/').slice(1));
    return found?.kind === 'endpoint' ? found.entry.route : found?.kind;
  };

  it.each([
    // The more specific path wins, whatever its kind.
    ['GET', '/things/special', 'plain'],
    ['GET', '/things/other', '/things/:id'],
    ['GET', '/things/a/parts', '/things/:id/parts'],
    ['GET', '/things/a/parts/b', 'plain'],
    ['POST', '/deep/x', '/deep/**:rest'],
    ['GET', '/deep/x', 'plain'],
    // A file without the method leaves the path to one that has it.
    ['GET', '/things/posted', '/things/:id'],
    ['GET', '/both', '/both'],
    ['HEAD', '/both', '/both'],
    ['POST', '/both', 'plain'],
    // A path without a file for the method is still named by it.
    ['DELETE', '/both', 'plain'],
    ['HEAD', '/plain/x', 'plain'],
    ['PUT', '/plain/x/y', 'plain'],
    ['GET', '/only', 'plain'],
    ['OPTIONS', '/only', 'plain'],
    ['OPTIONS', '/things/special', 'plain'],
    ['GET', '/star/x', 'plain'],
    // The router ignores a slash at the end.
    ['GET', '/plain/x/', 'plain'],
    ['PROPFIND', '/things/special/', 'plain'],
    ['GET', '/both/', 'plain'],
    ['DELETE', '/things/posted/', 'plain'],
    ['GET', '/both/x', undefined],
    ['GET', '/things/a/parts/', undefined],
    // Colon actions belong to endpoints.
    ['POST', '/things/a:do', '/things/:id/actions/do'],
    ['POST', '/things/a:nope', 'unsupported-action'],
    ['POST', '/things/a/actions/do', undefined],
    ['POST', '/plain/actions/do', 'plain'],
    ['POST', '/plain:do', undefined],
    ['GET', '/plain', undefined],
    ['GET', '/plain/', undefined],
    ['GET', '/plain//', 'plain'],
    ['GET', '/star/', undefined],
    ['GET', '//plain/x', undefined],
    ['GET', '/nowhere', undefined],
  ])('%s %s', (method, path, expected) => expect(kind(method, path)).toBe(expected));

  it('have the root, and it alone', () => {
    const home = createRouteTable([], [{ route: '/', method: 'post' }]);
    const kinds = ['/', '//', '/x'].map((path) => home.match('GET', path.split('/').slice(1))?.kind);
    expect(kinds).toEqual(['plain', 'plain', undefined]);
  });

  it('give all paths to a catch-all of the root', () => {
    const all = createRouteTable([], [{ route: '/**' }]);
    for (const path of ['/', '/x', '//x', '/x/']) {
      expect([path, all.match('GET', path.split('/').slice(1))?.kind]).toEqual([path, 'plain']);
    }
  });
});
