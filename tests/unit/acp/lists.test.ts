/** MCP servers and directories of an editor, and when the server receives them. */
import { describe, expect, it } from 'vitest';
import { createListsOnServer } from '../../../clients/acp/lists-on-server.ts';
import { listsOf } from '../../../clients/acp/lists.ts';

describe('listsOf', () => {
  it('has the members of the API', () => {
    expect(
      listsOf({
        mcpServers: [
          { name: 'local', command: '/bin/server', args: ['-x'], env: [{ name: 'A', value: '1' }] },
          { type: 'http', name: 'remote', url: 'https://example.com/mcp', headers: [{ name: 'B', value: '2' }] },
          { type: 'sse', name: 'old', url: 'https://example.com/sse', headers: [] },
        ],
        additionalDirectories: ['/a', '/b'],
      }),
    ).toEqual({
      mcp_servers: [
        {
          name: 'local',
          transport: 'stdio',
          command: '/bin/server',
          args: ['-x'],
          env: { A: '1' },
          runtime_id: 'local',
        },
        { name: 'remote', transport: 'http', url: 'https://example.com/mcp', headers: { B: '2' } },
        { name: 'old', transport: 'sse', url: 'https://example.com/sse', headers: {} },
      ],
      additional_dirs: ['/a', '/b'],
    });
    expect(listsOf({})).toEqual({ mcp_servers: [], additional_dirs: [] });
  });

  it('refuses a name that is used twice, and a relative directory', () => {
    const server = { name: 'a', command: 'a', args: [], env: [] };
    expect(() => listsOf({ mcpServers: [server, server] })).toThrow('mcpServers.1.name: ');
    expect(() => listsOf({ additionalDirectories: ['/a', 'b'] })).toThrow('additionalDirectories.1: ');
  });
});

describe('createListsOnServer', () => {
  const lists = { mcp_servers: [], additional_dirs: ['/a'] };

  /** A server that records the bodies which it receives. */
  function fakeServer() {
    const bodies: unknown[] = [];
    const server = { id: 'one', bodies };
    const link = {
      serverId: async () => server.id,
      write: async (_: string, body: unknown) => void bodies.push(body),
    };
    return { server, link };
  }

  it('sends them again to another server, once', async () => {
    const { server, link } = fakeServer();
    const kept = await createListsOnServer(link, 's', lists);
    await kept.restore();
    expect(server.bodies).toEqual([]);
    server.id = 'two';
    await kept.restore();
    await kept.restore();
    expect(server.bodies).toEqual([lists]);
  });

  it('sends them again after the session was unloaded', async () => {
    const { server, link } = fakeServer();
    const kept = await createListsOnServer(link, 's', lists);
    kept.dropped();
    await kept.restore();
    expect(server.bodies).toEqual([lists]);
  });

  it('empties both when the session is closed, and restores nothing then', async () => {
    const { server, link } = fakeServer();
    const kept = await createListsOnServer(link, 's', lists);
    await kept.clear();
    server.id = 'two';
    await kept.restore();
    await kept.clear();
    expect(server.bodies).toEqual([{ mcp_servers: [], additional_dirs: [] }]);
  });

  it('sends nothing for a session without lists', async () => {
    const { server, link } = fakeServer();
    const kept = await createListsOnServer(link, 's');
    server.id = 'two';
    await kept.restore();
    await kept.clear();
    expect(server.bodies).toEqual([]);
  });
});
