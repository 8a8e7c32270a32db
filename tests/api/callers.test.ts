/** The client that answered or changed a setting: in journal, transcript, and the warning while a command runs. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { toNodeListener } from 'h3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import endpoints from '#endpoints';
import { systemClock, type Clock } from '#server/clock.ts';
import { transcriptPageSchema } from '#schema/rest/transcript.ts';
import { createNitroApp } from '#support/nitro-app.ts';
import { eventually } from '#support/patience.ts';
import { sessionFolder } from '#support/session-folder.ts';
import { call, startTalk, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';
import { createAssetReader } from '#utils/http/assets.ts';
import { createRouteTable } from '#utils/http/route-table.ts';
import { connect } from '#support/ws-client.ts';

/** Offset of the server's clock in ms: a minute after a command has exited, it no longer causes warnings. */
let ahead = 0;
const clock: Clock = { now: () => Date.now() + ahead, setTimeout: systemClock.setTimeout };

let world: World;
beforeAll(async () => {
  world = await startWorld({ clock });
});
afterAll(() => world.close());

/** Headers of another program on the machine. */
const curl = { 'user-agent': 'curl/8.5', 'x-service-client-name': '', 'x-service-client-id': '' };
const byCurl = { user_agent: 'curl/8.5', remote_address: '127.0.0.1' };

const TAB = createHash('sha256').update('tab-1').digest('hex').slice(0, 32);

/** Sends a request with these headers and asserts its code. */
async function send(method: string, path: string, body: unknown, headers: Record<string, string>, code = 0) {
  const response = await world.server.fetch(`/api/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(await response.json()).toMatchObject({ code });
}

const line = z.object({ r: z.array(z.looseObject({ type: z.string() })) });

/** Journal records of a type in the session, in order. */
async function records({ session }: Talk, type: string) {
  const path = join(sessionFolder(world.server.home, session), 'journal.ndjson');
  const lines = (await readFile(path, 'utf8')).trim().split('\n').slice(1);
  return lines.flatMap((text) => line.parse(JSON.parse(text)).r).filter((record) => record.type === type);
}

const transcript = async ({ path }: Talk) =>
  transcriptPageSchema.parse(await world.ok('GET', `${path}/transcript?agent_id=main`));

const bash = (command: string) => call('Bash', { command, description: 'Something' });

const question = {
  questions: [
    {
      question: 'Which?',
      header: 'Which',
      options: [
        { label: 'A', description: 'the first' },
        { label: 'B', description: 'the second' },
      ],
    },
  ],
};

describe('answers', () => {
  test('record the client of an approval in the journal and the transcript, live and cold, without changing the event', async () => {
    const talk = await startTalk(world);
    const { prompt_id } = await talk.prompt('go', [{ calls: [bash('echo hi')] }, { text: 'Done.' }]);
    const { approval_id } = await talk.approval();
    const named = {
      'user-agent': 'node',
      'x-service-client-name': `my tool${'x'.repeat(200)}  `,
      'x-service-client-id': 'tab-1',
    };
    await send('POST', `${talk.path}/approvals/${approval_id}`, { decision: 'approved' }, named);
    await talk.settled(prompt_id);

    const by = {
      client_name: `my tool${'x'.repeat(93)}`,
      client_id: TAB,
      user_agent: 'node',
      remote_address: '127.0.0.1',
    };
    const folder = sessionFolder(world.server.home, talk.session);
    expect(await readFile(join(folder, 'journal.ndjson'), 'utf8')).not.toContain('tab-1');
    const [record] = await records(talk, 'event.approval.resolved');
    expect(record).toMatchObject({ decision: 'approved', x: { by } });
    const [frame] = talk.all('event.approval.resolved');
    expect(Object.keys(frame?.payload ?? {}).sort()).toEqual(
      ['agentId', 'approval_id', 'decision', 'resolved_at', 'sessionId', 'type'].sort(),
    );
    const live = (await transcript(talk)).interactions;
    expect(live).toMatchObject([
      {
        state: 'approved',
        answeredBy: {
          clientName: by.client_name,
          clientId: TAB,
          userAgent: 'node',
          remoteAddress: '127.0.0.1',
        },
      },
    ]);
    await world.restart();
    expect((await transcript(talk)).interactions).toEqual(live);
  });

  test('record the client of answered and dismissed questions', async () => {
    const talk = await startTalk(world);
    const calls = [call('AskUserQuestion', question)];
    for (const [at, dismissed] of [false, true].entries()) {
      const { prompt_id } = await talk.prompt('go', [{ calls }, { text: 'Done.' }]);
      const asked = await talk.nth('event.question.requested', at + 1);
      const path = `${talk.path}/questions/${String(asked.payload.question_id)}`;
      const answers = { q_0: { kind: 'single', option_id: 'opt_0_0' } };
      if (dismissed) await send('POST', `${path}:dismiss`, undefined, curl, 40909);
      else await send('POST', path, { answers }, curl);
      await talk.settled(prompt_id);
    }
    expect(await records(talk, 'event.question.answered')).toMatchObject([{ x: { by: byCurl } }]);
    expect(await records(talk, 'event.question.dismissed')).toMatchObject([{ x: { by: byCurl } }]);
    const answeredBy = { userAgent: 'curl/8.5', remoteAddress: '127.0.0.1' };
    expect((await transcript(talk)).interactions).toMatchObject([{ answeredBy }, { answeredBy }]);
  });

  test('record no client if the approval ends with its turn', async () => {
    const talk = await startTalk(world);
    const { prompt_id } = await talk.prompt('go', [{ calls: [bash('echo hi')] }]);
    await talk.approval();
    await world.ok('POST', `${talk.path}/prompts/${prompt_id}:abort`);
    await talk.settled(prompt_id);
    expect(JSON.stringify(await records(talk, 'event.approval.resolved'))).not.toContain('"by"');
    expect((await transcript(talk)).interactions[0]).not.toHaveProperty('answeredBy');
  });
});

/** Opens a session in which a command of the model runs until `end` is called. */
async function running(more: Record<string, unknown> = {}) {
  const talk = await startTalk(world);
  const mark = join(world.project, `end-${talk.session.id}`);
  const command = `echo ready; while [ ! -e '${mark}' ]; do sleep 0.05; done`;
  const { prompt_id } = await talk.prompt(
    'go',
    [{ calls: [call('Bash', { command, description: 'Wait', ...more })] }, { text: 'Done.' }],
    { permission_mode: 'yolo' },
  );
  // In the foreground the command has printed output, in the background its call has returned.
  await talk.events.waitFor(({ type }) => type === 'tool.progress' || type === 'tool.result');
  return {
    talk,
    async end() {
      await writeFile(mark, '');
      await talk.settled(prompt_id);
      // The end of a background command opens a turn, which must not consume an answer of the next test.
      if (more.run_in_background) await talk.nth('turn.ended', 2);
    },
  };
}

const warnings = (talk: Talk) =>
  talk
    .all('warning')
    .filter(({ payload }) => payload.code === 'settings-changed-during-command')
    .map(({ payload }) => String(payload.message));

describe('a client', () => {
  test('is recorded with a hash of its id, from which no reply or record reveals the id', async () => {
    const reply = await world.server.fetch('/api/v1/meta', { headers: { 'x-service-client-id': 'tab-1' } });
    expect(reply.headers.get('x-service-client-public-id')).toBe(TAB);
    const other = await world.server.fetch('/api/v1/meta', { headers: { 'x-service-client-id': TAB } });
    expect(other.headers.get('x-service-client-public-id')).not.toBe(TAB);
    expect((await world.server.fetch('/api/v1/meta')).headers.has('x-service-client-public-id')).toBe(false);
  });

  test('has the address that the guard checks, also for the proxy of the development server', async () => {
    const talk = await startTalk(world);
    await talk.turn('go', [{ text: 'Done.' }]);
    const host = {
      app: () => world.server.app,
      routes: createRouteTable(endpoints),
      assets: createAssetReader(() => world.project),
      clientAddress: () => '::ffff:192.0.2.7',
    };
    const server = createServer(toNodeListener(createNitroApp(host)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = z.object({ port: z.number() }).parse(server.address());
    await fetch(`http://127.0.0.1:${port}/api/v1${talk.path}/profile`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.server.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ agent_config: { permission_mode: 'auto' } }),
    });
    server.close();
    expect((await records(talk, 'agent.config')).at(-1)).toMatchObject({ by: { remote_address: '192.0.2.7' } });
  });
});

describe('the permission mode', () => {
  test('a change is recorded with its client, which is in the transcript, live and cold', async () => {
    const talk = await startTalk(world);
    await talk.turn('go', [{ text: 'Done.' }]);
    await send('POST', `${talk.path}/profile`, { agent_config: { permission_mode: 'auto' } }, curl);
    expect((await records(talk, 'agent.config')).at(-1)).toMatchObject({ permission: 'auto', by: byCurl });
    const permissionBy = { userAgent: 'curl/8.5', remoteAddress: '127.0.0.1' };
    expect((await transcript(talk)).meta.agent).toMatchObject({ permission: 'auto', permissionBy });
    await world.restart();
    expect((await transcript(talk)).meta.agent).toMatchObject({ permission: 'auto', permissionBy });
  });

  test('a change warns exactly the sessions with a running command', async () => {
    const one = await running();
    const idle = await startTalk(world);
    await idle.turn('go', [{ text: 'Done.' }]);
    await send('POST', `${idle.path}/profile`, { agent_config: { permission_mode: 'yolo' } }, curl);
    await one.talk.nth('warning', 1);
    expect(warnings(one.talk)).toEqual([
      expect.stringMatching(
        /^The permission mode of session ".*" was set to yolo while .* by curl\/8\.5 \(127\.0\.0\.1\)\.$/,
      ),
    ]);
    expect(warnings(idle)).toEqual([]);
    // Setting the same mode again changes nothing.
    await send('POST', `${idle.path}/profile`, { agent_config: { permission_mode: 'yolo' } }, curl);
    await send('POST', `${idle.path}/profile`, { agent_config: { permission_mode: 'manual' } }, curl);
    await one.talk.nth('warning', 2);
    expect(warnings(one.talk)).toHaveLength(2);
    await one.end();
  });

  test('a warning survives an undo, live and cold', async () => {
    const one = await running();
    const { talk } = one;
    await send('POST', `${talk.path}/profile`, { agent_config: { permission_mode: 'auto' } }, curl);
    await talk.nth('warning', 1);
    await one.end();
    await send('POST', `${talk.path}:undo`, { count: 1 }, curl);
    const live = await transcript(talk);
    expect(live.items.map((item) => item.kind === 'marker' && item.marker)).not.toContain('notice');
    expect(live.meta.settingsChanges).toEqual([
      { id: '1', message: warnings(talk)[0], at: expect.any(String) as string },
    ]);
    await world.restart();
    expect((await transcript(talk)).meta.settingsChanges).toEqual(live.meta.settingsChanges);
  });

  test('a prompt that changes the mode causes the warning too', async () => {
    const one = await running();
    const other = await startTalk(world);
    await other.turn('go', [{ text: 'Done.' }], { permission_mode: 'auto' });
    await one.talk.nth('warning', 1);
    expect(warnings(one.talk)[0]).toContain('was set to auto');
    await one.end();
  });
});

describe('a process that a command left running', () => {
  test('causes warnings like the command itself, until it exits', async () => {
    const talk = await startTalk(world);
    const other = await startTalk(world);
    await other.turn('go', [{ text: 'Done.' }]);
    const pidFile = join(world.project, `pid-${talk.session.id}`);
    const loop = `(while :; do sleep 0.05; done) > /dev/null 2>&1 & echo $! > '${pidFile}'`;
    await talk.turn('go', [{ calls: [bash(loop)] }, { text: 'Done.' }], { permission_mode: 'yolo' });
    ahead += 60_000;
    const pid = Number(await readFile(pidFile, 'utf8'));
    await send('POST', `${other.path}/profile`, { agent_config: { permission_mode: 'yolo' } }, curl);
    await talk.nth('warning', 1);
    expect(warnings(talk)).toEqual([expect.stringContaining('was set to yolo while')]);
    process.kill(pid);
    await eventually(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'));
    await send('POST', `${other.path}/profile`, { agent_config: { permission_mode: 'manual' } }, curl);
    await send('POST', `${talk.path}/profile`, { title: 'Behind it' }, curl);
    await talk.events.waitFor(({ payload }) => payload.title === 'Behind it');
    expect(warnings(talk)).toHaveLength(1);
  });
});

describe('an answer that sets the mode', () => {
  test('warns where a command runs, with the client of the answer', async () => {
    const goal = await startTalk(world);
    const create = { calls: [call('CreateGoal', { objective: 'Ship', completionCriterion: 'green' })] };
    const { prompt_id } = await goal.prompt('Go', [create]);
    const { approval_id } = await goal.approval();
    const one = await running();
    // The queue's next answer belongs to the session of `running`.
    const done = { calls: [call('UpdateGoal', { status: 'complete' })] };
    for (const answer of [done, { text: 'Done.' }, { text: 'Done.' }]) world.model.enqueue(answer);
    const answer = { decision: 'approved', selected_label: 'yolo' };
    await send('POST', `${goal.path}/approvals/${approval_id}`, answer, curl);
    await goal.settled(prompt_id);
    await one.talk.nth('warning', 1);
    expect(warnings(one.talk)).toEqual([expect.stringMatching(/was set to yolo while .* by curl\/8\.5 \(127/)]);
    await one.end();
  });

  test('a mode change in a session with subagents warns a single time', async () => {
    const talk = await startTalk(world);
    const agent = call('Agent', { prompt: 'Look', description: 'Look' });
    await talk.turn('go', [{ calls: [agent] }, { text: 'Found.' }, { text: 'Done.' }]);
    const one = await running();
    await send('POST', `${talk.path}/profile`, { agent_config: { permission_mode: 'yolo' } }, curl);
    await send('POST', `${talk.path}/profile`, { agent_config: { permission_mode: 'manual' } }, curl);
    await one.talk.nth('warning', 2);
    expect(warnings(one.talk)).toEqual([
      expect.stringContaining('was set to yolo'),
      expect.stringContaining('was set to manual'),
    ]);
    await one.end();
  });
});

describe('configuration and trust', () => {
  const allow = (match: string) => ({ permission: { allow: [{ tool: 'Bash', match }] } });

  test('the events name the client that made the change', async () => {
    const events = await connect(world.server);
    await events.send({ type: 'subscribe', payload: { session_ids: ['__global__'] } });
    const { workspace_id: id } = await world.session();
    await send('POST', '/config', allow('echo one *'), curl);
    const changed = await events.waitFor(({ type }) => type === 'event.config.changed');
    expect(changed.payload).toMatchObject({ by: byCurl });
    await send('POST', `/workspaces/${id}/trust`, undefined, curl);
    const trusted = await events.waitFor(
      ({ type, payload }) => type === 'event.workspace.updated' && payload.by !== undefined,
    );
    expect(trusted.payload.by).toEqual(byCurl);
    await send('POST', `/workspaces/${id}/untrust`, undefined, curl);
    await events.close();
  });

  test('changes of trust, directories and names have their client; a workspace removed meanwhile is no error', async () => {
    const events = await connect(world.server);
    await events.send({ type: 'subscribe', payload: { session_ids: ['__global__'] } });
    const { workspace_id } = await world.session();
    const updated = () =>
      events.frames.filter(({ type, payload }) => type === 'event.workspace.updated' && payload.by !== undefined);
    await send('PATCH', `/workspaces/${workspace_id}`, { name: 'Renamed' }, curl);
    await events.waitFor(() => updated().length === 1);
    await send('POST', `/workspaces/${workspace_id}/add-dir`, { path: world.server.home, persist: false }, curl);
    await events.waitFor(() => updated().length === 2);
    expect(updated().map(({ payload }) => payload.by)).toEqual([byCurl, byCurl]);
    await world.server.app.workspaceChanged('wd_removed_000000000000', 'it changed', byCurl);
    await events.close();
  });

  test('edits of the file, changed rules and changed trust warn while a command runs in the background', async () => {
    const one = await running({ run_in_background: true });
    const { workspace_id } = one.talk.session;
    await send('POST', '/config', allow('echo two *'), curl);
    await one.talk.nth('warning', 1);
    await send('POST', `/workspaces/${workspace_id}/trust`, undefined, curl);
    await one.talk.nth('warning', 2);
    await send('POST', `/workspaces/${workspace_id}/untrust`, undefined, curl);
    await one.talk.nth('warning', 3);
    const path = join(world.server.home, 'config.toml');
    const text = await readFile(path, 'utf8');
    await writeFile(path, `${text}\n[[hooks]]\nevent = "Stop"\ncommand = "true"\n`);
    await one.talk.nth('warning', 4);
    expect(warnings(one.talk)).toEqual([
      'Permission of the configuration changed while a command was running, by curl/8.5 (127.0.0.1).',
      expect.stringContaining('is trusted while'),
      expect.stringContaining('is no longer trusted while'),
      'Hooks of the configuration changed while a command was running, not through this server.',
    ]);
    await writeFile(path, text);
    await one.talk.nth('warning', 5);
    await one.end();
  });

  test('a trust marker written by a command warns when it is read, even after the command has exited', async () => {
    const one = await running();
    const { talk } = one;
    const { trust } = world.server.app;
    const marker = join(world.server.home, ...(await trust.marker(world.project)).split(':'));
    await mkdir(dirname(marker), { recursive: true });
    await writeFile(marker, JSON.stringify({ root: await realpath(world.project), trustedAt: 1 }));
    await one.end();
    ahead += 60_000;
    await talk.turn('again', [{ text: 'Done.' }]);
    await talk.nth('warning', 1);
    const [warning] = warnings(talk);
    expect(warning).toMatch(/ is trusted while a command was running, not through this server\.$/);
    // A change by another server of the home while no command runs is attributed to the user.
    ahead += 60_000;
    await talk.turn('again', [{ text: 'Done.' }]);
    ahead += 60_000;
    await rm(marker);
    await talk.turn('again', [{ text: 'Done.' }]);
    expect(warnings(talk)).toEqual([warning]);
  });

  test('no warning without a running command, and none for other domains', async () => {
    const talk = await startTalk(world);
    await talk.turn('go', [{ text: 'Done.' }]);
    await send('POST', '/config', allow('echo three *'), curl);
    const one = await running();
    await send('POST', '/config', { background: { max_running_tasks: 7 } }, curl);
    await send('POST', '/config', allow('echo four *'), curl);
    await eventually(() => expect(warnings(one.talk)).toEqual([expect.stringContaining('Permission of the')]));
    expect(warnings(talk)).toEqual([]);
    await one.end();
  });
});
