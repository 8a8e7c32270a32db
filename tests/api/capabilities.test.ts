/** Capabilities over REST, and the events of an installation. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Capability } from '#server/capabilities/capability.ts';
import { fakeCapability } from '#support/capabilities.ts';
import { until } from '#support/patience.ts';
import { startServer } from '#support/server.ts';
import { connect } from '#support/ws-client.ts';

async function serverWith(...capabilities: Capability[]) {
  const server = await startServer(capabilities.length > 0 ? { capabilities } : {});
  onTestFinished(() => server.close());
  return server;
}

it('lists the shipped capabilities, unsupported', async () => {
  const server = await serverWith();
  expect((await server.api('GET', '/capabilities')).data).toEqual({
    capabilities: [
      {
        id: 'service-cu',
        pluginId: 'service-cu',
        displayName: 'Service Computer Use',
        description: 'Lets agents see and operate the windows of your desktop apps.',
        supported: false,
        state: 'unsupported',
        steps: [],
        install: { running: false },
      },
      {
        id: 'service-webbridge',
        pluginId: 'service-webbridge',
        displayName: 'Service WebBridge',
        description: 'Lets agents control your own browser, with the pages that you are signed in to.',
        supported: false,
        state: 'unsupported',
        steps: [],
        install: { running: false },
      },
    ],
  });
  expect(await server.api('POST', '/capabilities/service-cu:install')).toMatchObject({
    status: 200,
    code: 40925,
    msg: `Capability "service-cu" is not supported on ${process.platform}/${process.arch}`,
    data: null,
  });
});

it('checks the action before the id', async () => {
  const server = await serverWith();
  expect(await server.api('POST', '/capabilities/nope:remove')).toMatchObject({
    code: 40001,
    msg: 'unsupported action: nope:remove',
    details: [{ path: 'capability_id' }],
  });
  expect(await server.api('POST', '/capabilities/nope')).toMatchObject({ code: 40001 });
  for (const id of ['nope', 'Service-CU']) {
    const unknown = { code: 40418, msg: `Capability "${id}" is not registered`, data: null };
    expect(await server.api('POST', `/capabilities/${id}:install`)).toMatchObject(unknown);
    expect(await server.api('GET', `/capabilities/${id}`)).toMatchObject(unknown);
  }
});

it('finds an id with a colon', async () => {
  const server = await serverWith(fakeCapability('a:b'));
  expect((await server.api('POST', '/capabilities/a:b:install')).data).toMatchObject({ id: 'a:b' });
});

it('replies without waiting for the installation, whatever the body', async () => {
  const fake = fakeCapability();
  const server = await serverWith(fake);
  expect((await server.api('POST', '/capabilities/fake:install', ['ignored'])).data).toMatchObject({
    id: 'fake',
    state: 'not_installed',
    install: { running: true },
  });
  expect(await server.api('POST', '/capabilities/fake:install')).toMatchObject({
    code: 40924,
    msg: 'Capability "fake" is already being installed',
  });
  fake.installs[0]?.report({ step: 'download', percent: 100 });
  expect((await server.api('GET', '/capabilities/fake')).data).toMatchObject({
    install: { running: true, step: 'download', percent: 99 },
  });
  fake.installs[0]?.fail(new Error('no space'));
  await until(async () => {
    const { data } = await server.api('GET', '/capabilities/fake');
    return JSON.stringify(data).includes('"install":{"running":false,"error":"no space"}');
  });
});

it('replies 50001 to a failing detection, except in the list', async () => {
  const server = await serverWith(fakeCapability('fake', () => Promise.reject(new Error('no launchctl'))));
  expect((await server.api('GET', '/capabilities')).data).toMatchObject({
    capabilities: [{ state: 'not_installed', steps: [{ id: 'detect', state: 'failed', detail: 'no launchctl' }] }],
  });
  const failed = { code: 50001, msg: 'no launchctl', data: null };
  expect(await server.api('GET', '/capabilities/fake')).toMatchObject(failed);
  expect(await server.api('POST', '/capabilities/fake:install')).toMatchObject(failed);
  expect(await server.api('POST', '/capabilities/fake:install')).toMatchObject({ code: 40924 });
});

it('sends every connection the progress, at a limited rate, and the last state', async () => {
  const fake = fakeCapability();
  const server = await serverWith(fake);
  const clients = [await connect(server), await connect(server)];
  await server.api('POST', '/capabilities/fake:install');
  const [install] = fake.installs;
  for (let n = 0; n < 10_000; n += 1) install?.report({ step: `file ${n}` });
  install?.succeed({ note: 'user-skill-migrated' });
  for (const client of clients) {
    const last = await client.waitFor(({ payload }) => JSON.stringify(payload).includes('"running":false'));
    const { seq, epoch, session_id, volatile, payload } = last;
    expect({ seq, epoch, session_id, volatile, payload }).toEqual({
      seq: 0,
      epoch: expect.stringMatching(/^ep_/),
      session_id: '__global__',
      volatile: true,
      payload: {
        type: 'event.capability.changed',
        capability_id: 'fake',
        install: { running: false, note: 'user-skill-migrated' },
        agentId: 'main',
        sessionId: '__global__',
      },
    });
    const events = client.frames.filter(({ type }) => type === 'event.capability.changed');
    expect(events.length).toBeLessThanOrEqual(3);
    await client.close();
  }
});

describe('events of an installation', () => {
  it('are not replayed, and leave no gap in the numbers of the global stream', async () => {
    const fake = fakeCapability();
    const server = await serverWith(fake);
    const rename = (name: string) => server.api('POST', '/workspaces', { root: server.home, name });
    await rename('one');
    const client = await connect(server);
    await server.api('POST', '/capabilities/fake:install');
    const progress = await client.waitFor(({ type }) => type === 'event.capability.changed');
    const before = progress.seq ?? 0;
    expect(before).toBeGreaterThan(0);
    await rename('two');
    const next = await client.waitFor(({ type, volatile }) => type.startsWith('event.workspace.') && !volatile);
    expect(next.seq).toBe(before + 1);
    const late = await connect(server);
    const cursors = { __global__: { seq: 0, epoch: next.epoch } };
    await late.send({ type: 'subscribe', payload: { session_ids: ['__global__'], cursors } });
    expect(late.frames.map(({ type }) => type)).not.toContain('event.capability.changed');
    expect(late.durable('__global__').map(({ seq }) => seq)).toEqual(
      Array.from({ length: before + 1 }, (_, n) => n + 1),
    );
    expect(await readFile(join(server.home, 'events/global.ndjson'), 'utf8')).not.toContain('capability');
    await client.close();
    await late.close();
  });
});

it('stops while an installation runs, and aborts it', async () => {
  const fake = fakeCapability();
  const server = await startServer({ capabilities: [fake] });
  await server.api('POST', '/capabilities/fake:install');
  await server.close();
  expect(fake.installs[0]?.signal.aborted).toBe(true);
});
