import { describe, expect, it } from 'vitest';
import { accessUrls, sharedUrl } from '#server/cli/access-urls.ts';
import { parseCommandLine } from '#server/cli/options.ts';

async function start(...argv: string[]) {
  const line = await parseCommandLine(argv);
  if (line.command !== 'start') throw new Error(`expected a start, got ${line.command}`);
  return line.options;
}

describe('command line', () => {
  it('has a default for every option', async () => {
    expect(await start()).toEqual({
      port: 58627,
      host: '127.0.0.1',
      allowedHosts: [],
      logLevel: 'silent',
      debugEndpoints: false,
      bypassAuth: false,
      webTitle: undefined,
      open: true,
      allowRemoteShutdown: false,
      allowRemoteTerminals: false,
      remoteControl: false,
      basePath: '',
      trustedProxies: undefined,
      https: undefined,
      qr: false,
      demo: false,
    });
  });

  it.each([
    [['--host', '--port', '1'], { host: '0.0.0.0', port: 1 }],
    [['--host'], { host: '0.0.0.0' }],
    [['--host', 'box.lan', '--no-open'], { host: 'box.lan', open: false }],
    [['--host=::1', '--port=0'], { host: '::1', port: 0 }],
    [['--allowed-host', 'a,b', '--allowed-host', 'c'], { allowedHosts: ['a', 'b', 'c'] }],
    [['--remote-control'], { remoteControl: true }],
    [['--base-path', '/code/'], { basePath: '/code' }],
    [['--base-path', '/a/b~1.x_y-Z'], { basePath: '/a/b~1.x_y-Z' }],
    [['--base-path=/'], { basePath: '' }],
    [['--base-path', '/code/api'], { basePath: '/code/api' }],
    [['--https', '--qr'], { https: { files: undefined }, qr: true }],
    [['--https', '--cert', '/c.pem', '--key', '/k.pem'], { https: { files: { cert: '/c.pem', key: '/k.pem' } } }],
    [['--allowed-host', 'a', 'b', '--demo'], { allowedHosts: ['a', 'b'], demo: true }],
    [['--log-level', 'debug', '--web-title', '--x'], undefined],
    [['--web-title', 'My title', '--dangerous-bypass-auth'], { webTitle: 'My title', bypassAuth: true }],
    [
      ['--debug-endpoints', '--allow-remote-shutdown', '--allow-remote-terminals'],
      { debugEndpoints: true, allowRemoteShutdown: true, allowRemoteTerminals: true },
    ],
  ])('%j', async (argv, expected) => {
    if (expected) expect(await start(...argv)).toMatchObject(expected);
    else await expect(start(...argv)).rejects.toThrow(/web-title.*needs a value/);
  });

  it.each([
    [['--port', 'abc'], /invalid port 'abc'/],
    [['--port', '65536'], /invalid port/],
    [['--port', '-1'], /invalid port '-1'/],
    [['--port', '1.5'], /invalid port/],
    [['--port'], /'--port' needs a value/],
    ...['code', '//code', '/a//b', '/code//', '/.', '/a/..', '/a%2Fb', '/a b', '/ä', '/a?b', ''].map(
      (path): [string[], RegExp] => [[`--base-path=${path}`], /invalid base path/],
    ),
    ...['api', 'assets', 'sessions', 'documentation', 'openapi.json', 'asyncapi.json'].map(
      (name): [string[], RegExp] => [['--base-path', `/${name}/x`], /is a path of the server/],
    ),
    ...[
      'localhost',
      '10.0.0.0/33',
      '10.0.0.0/',
      '::1/129',
      '10.0.0.1/8/8',
      '127.1',
      '',
      '10.0.0.1,',
      'fe80::1%eth0',
    ].map((entry): [string[], RegExp] => [[`--trust-proxy=${entry}`], /'--trust-proxy'/]),
    [['--trust-proxy'], /'--trust-proxy' needs a value/],
    [['--cert', 'c', '--key', 'k'], /need '--https'/],
    [['--https', '--cert', 'c'], /come together/],
    [['--https', '--key', 'k'], /come together/],
    [['--log-level', 'loud'], /invalid log level 'loud'/],
    [['--colour'], /unknown option '--colour'/],
    [['-x'], /unknown option '-x'/],
    [['--keep-connections'], /unknown option '--keep-connections'/],
    [['serve'], /unknown command 'serve'/],
  ])('rejects %j', async (argv, message) => {
    await expect(parseCommandLine(argv)).rejects.toThrow(message);
  });

  it('parses the other commands', async () => {
    expect(await parseCommandLine(['rotate-token'])).toEqual({
      command: 'rotate-token',
      keepConnections: false,
    });
    expect(await parseCommandLine(['rotate-token', '--keep-connections'])).toMatchObject({ keepConnections: true });
    expect(await parseCommandLine(['--version'])).toMatchObject({ text: expect.stringMatching(/^\d+\.\d+\.\d+/) });
    const help = await parseCommandLine(['--help']);
    for (const name of ['--port', '--host', '--allowed-host', '--log-level', '--no-open', '--demo', 'rotate-token']) {
      expect(help).toMatchObject({ text: expect.stringContaining(name) });
    }
    const text = help.command === 'print' ? help.text : '';
    expect(text).toContain('USAGE service-code [OPTIONS]\n      service-code rotate-token [--keep-connections]\n');
    expect(text).not.toContain('\u001b');
  });
});

it('lists of proxies are repeatable, and separated by commas or spaces', async () => {
  const { trustedProxies } = await start('--trust-proxy', '10.0.0.1,loopback', '::2', '--trust-proxy=192.168.0.0/16');
  const listed = ['10.0.0.1', '127.9.9.9', '::1', '::2', '192.168.3.4', '::ffff:10.0.0.1', '::ffff:a00:1'];
  expect(listed.filter((address) => trustedProxies?.has(address))).toEqual(listed);
  const others = ['10.0.0.2', '::3', '192.169.0.1', 'x', ''];
  expect(others.filter((address) => trustedProxies?.has(address))).toEqual([]);
});

describe('access URLs', () => {
  it('have the scheme and the base path', () => {
    expect(accessUrls('::1', 5, 'T', { secure: true, basePath: '/code' })).toEqual(['https://[::1]:5/code/#token=T']);
  });
  it('that other machines reach are shared first', () => {
    expect(sharedUrl(['http://localhost:1/', 'http://10.0.0.2:1/'])).toBe('http://10.0.0.2:1/');
    expect(sharedUrl(['http://[::1]:1/'])).toBe('http://[::1]:1/');
  });

  it('carry the token in the fragment', () => {
    expect(accessUrls('127.0.0.1', 5, 'T')).toEqual(['http://127.0.0.1:5/#token=T']);
    expect(accessUrls('::1', 5, undefined)).toEqual(['http://[::1]:5/']);
  });
  it('start with localhost on a wildcard bind', () => {
    expect(accessUrls('0.0.0.0', 5, 'T')[0]).toBe('http://localhost:5/#token=T');
  });
});
