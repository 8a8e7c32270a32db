import { describe, expect, it } from 'vitest';
import { accessUrls, sharedUrl } from '#server/cli/access-urls.ts';
import { commandOf, requestsHelp } from '#server/cli/commands/commands.ts';
import { parseStart } from '#server/cli/options.ts';

const start = (...argv: string[]) => parseStart(argv);

describe('command line', () => {
  it('has a default for every option', () => {
    expect(start()).toEqual({
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
  ])('%j', (argv, expected) => {
    if (expected) expect(start(...argv)).toMatchObject(expected);
    else expect(() => start(...argv)).toThrow(/web-title.*needs a value/);
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
  ])('rejects %j', (argv, message) => {
    expect(() => start(...argv)).toThrow(message);
  });

  it('names its options and the other commands in its help text', async () => {
    const text = await (await commandOf(['--help'])).command.help();
    for (const name of [
      '--port',
      '--host[=',
      '--allowed-host',
      '--no-open',
      '--demo',
      'rotate-token',
      'run [prompt]',
    ]) {
      expect(text).toContain(name);
    }
    expect(text).not.toContain('\u001b');
  });
});

it('lists of proxies are repeatable, and separated by commas or spaces', () => {
  const { trustedProxies } = start('--trust-proxy', '10.0.0.1,loopback', '::2', '--trust-proxy=192.168.0.0/16');
  const listed = ['10.0.0.1', '127.9.9.9', '::1', '::2', '192.168.3.4', '::ffff:10.0.0.1', '::ffff:a00:1'];
  expect(listed.filter((address) => trustedProxies?.has(address))).toEqual(listed);
  const others = ['10.0.0.2', '::3', '192.169.0.1', 'x', ''];
  expect(others.filter((address) => trustedProxies?.has(address))).toEqual([]);
});

describe('commands', () => {
  it('are named by the first argument; without a name a server is started', async () => {
    const [start, run] = await Promise.all([commandOf(['--port', '1']), commandOf(['run', 'Hi', '--json'])]);
    expect(start.argv).toEqual(['--port', '1']);
    expect(run.argv).toEqual(['Hi', '--json']);
    expect(run.command).not.toBe(start.command);
    expect((await commandOf(['constructor'])).command).toBe(start.command);
  });

  it.each(['run', 'rotate-token'])('%s has a help text', async (name) => {
    expect(await (await commandOf([name])).command.help()).toContain(`service-code ${name}`);
  });

  it('are asked for a help text by an argument before --', () => {
    expect(requestsHelp(['-h'])).toBe(true);
    expect(requestsHelp(['Hi', '--help'])).toBe(true);
    expect(requestsHelp(['--', '--help'])).toBe(false);
  });
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
