/** The tour of the demo model in an editor: a golden log of everything that it displays. */
import { execFileSync } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { choose } from '#support/acp-editor.ts';
import { logOf } from '#support/acp-log.ts';
import { startAcp, type AcpProcess } from '#support/acp-process.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';

let root: string;
let server: SpawnedServer;
let editor: AcpProcess;

beforeAll(async () => {
  root = await temporaryDirectory();
  await mkdir(join(root, 'home'));
  await mkdir(join(root, 'project'));
  execFileSync('git', ['init', '--quiet', join(root, 'project')]);
  server = await spawnServer({ home: join(root, 'home'), args: ['--demo'] });
  editor = await startAcp(server);
});
afterAll(async () => {
  await editor.close();
  await server.close();
  await rm(root, { recursive: true, force: true });
});

it('displays the tour', async () => {
  const id = await editor.open(join(root, 'project'));
  editor.permit(choose('allow_once'));
  editor.elicit(async () => ({ action: 'accept', content: { q_0: 'opt_0_1' } }));
  expect(await editor.prompt(id, 'tour')).toBe('end_turn');
  const updates = editor.updates.map(({ update }) => update);
  const log = logOf(updates, [
    [root, '/root'],
    [/\/root\/home\/sessions[^"\s]*plans\/[\w-]+\.md/g, '/plan.md'],
    [/wd_project_[0-9a-f]{12}/g, 'wd_project'],
    [/pid: \d+/g, 'pid: <pid>'],
    [id, '<session>'],
    [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'],
    [/(bash|agent)-[0-9a-z]{8}/g, '<task>'],
    [/call_[\w-]+/g, '<call>'],
  ]);
  await expect(log).toMatchFileSnapshot('golden/acp-tour.txt');
  expect(editor.permissions.map(({ toolCall, options }) => [toolCall.title, options.map(({ name }) => name)]))
    .toMatchInlineSnapshot(`
      [
        [
          "ExitPlanMode Plan of the tour",
          [
            "Approve",
            "Revise",
            "Reject",
            "Reject and Exit",
          ],
        ],
        [
          "for i in $(seq 1 20); do echo "tick $i"; sleep 1; done",
          [
            "Allow once",
            "Allow for this session",
            "Reject",
          ],
        ],
        [
          "for i in 1 2 3; do echo "line $i"; sleep 0.2; done; rm -f demo-tour.txt",
          [
            "Allow once",
            "Allow for this session",
            "Reject",
          ],
        ],
      ]
    `);
  for (const line of editor.output().split('\n').slice(0, -1)) {
    expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  }
});
