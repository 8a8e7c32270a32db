import { describe, expect, it } from 'vitest';
import { accessUrls } from '#server/cli/access-urls.ts';
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

describe('access URLs', () => {
  it('carry the token in the fragment', () => {
    expect(accessUrls('127.0.0.1', 5, 'T')).toEqual(['http://127.0.0.1:5/#token=T']);
    expect(accessUrls('::1', 5, undefined)).toEqual(['http://[::1]:5/']);
  });
  it('start with localhost on a wildcard bind', () => {
    expect(accessUrls('0.0.0.0', 5, 'T')[0]).toBe('http://localhost:5/#token=T');
  });
});
