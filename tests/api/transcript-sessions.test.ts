/** Transcripts of sessions with markers and several agents, and over reloads of a session. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { plansSchema, userMessagesSchema, type Item, type TranscriptPage } from '#schema/rest/transcript.ts';
import { systemClock, type Clock } from '#server/clock.ts';
import { itemId } from '#server/transcript/reducer/state.ts';
import { sessionFolder } from '#support/session-folder.ts';
import { call, startTalk, type Talk } from '#support/talk.ts';
import { canonical, stateOfPage } from '#support/transcripts.ts';
import { opsOf, pageOf } from '#support/transcript-follower.ts';
import { startWorld, type World } from '#support/world.ts';

/** The machine's clock, except for timeouts of minutes, which `skip` calls. */
function skippingClock() {
  let skipped = 0;
  const due = new Set<() => void>();
  const clock: Clock = {
    now: () => systemClock.now() + skipped,
    setTimeout(callback, ms) {
      if (ms < 60_000) return systemClock.setTimeout(callback, ms);
      due.add(callback);
      return () => due.delete(callback);
    },
  };
  return {
    clock,
    skip(minutes: number) {
      skipped += minutes * 60_000;
      const called = [...due];
      due.clear();
      for (const callback of called) callback();
    },
  };
}

const { clock, skip } = skippingClock();
let world: World;
beforeAll(async () => {
  world = await startWorld({ clock, config: { default_permission_mode: 'yolo' } });
});
afterAll(() => world.close());

let talk: Talk;
let id: string;
beforeEach(async () => {
  talk = await startTalk(world);
  ({ id } = talk.session);
});

const loaded = () => world.server.app.sessions.liveRow(id) !== undefined;
const at = (rest: string) => `/sessions/${id}/transcript${rest}`;
const userMessages = async (query = '') =>
  userMessagesSchema.parse(await world.ok('GET', at(`/user-messages${query}`))).agents;
const control = (agent_config: object) => world.ok('POST', `${talk.path}/profile`, { agent_config });
const shown = (items: readonly Item[]) => items.map((item) => (item.kind === 'marker' ? item.marker : itemId(item)));
const sameAs = (one: TranscriptPage, other: TranscriptPage) => {
  expect(canonical(stateOfPage(one))).toEqual(canonical(stateOfPage(other)));
  expect(one.agents).toEqual(other.agents);
};

/** Skips the 30 minutes after which the server unloads the unused session. */
async function unloaded(): Promise<void> {
  await talk.events.close();
  skip(31);
  await expect.poll(loaded).toBe(false);
}

/** Creates a session with markers before, between and after its turns. */
async function marked(): Promise<void> {
  await control({ plan_mode: true });
  await control({ plan_mode: false });
  await talk.turn('First', [{ text: 'One.' }]);
  await control({ plan_mode: true });
  await talk.turn('Second', [{ text: 'Two.' }]);
  await talk.turn('Third', [{ text: 'Three.' }]);
  await control({ plan_mode: false });
}
const MARKED = ['plan.enter', 'plan.exit', 't0', 'plan.enter', 't1', 't2', 'plan.exit'];

/** Creates a session with a subagent, an ended task and a steered prompt. */
async function worked(): Promise<void> {
  const agent = call('Agent', { prompt: 'Count the words', description: 'count words' });
  await talk.turn('Count', [{ calls: [agent] }, { text: 'The files hold two words. '.repeat(12) }, { text: 'Done.' }]);
  // The end of the task opens a turn without a user prompt.
  const gate = join(world.project, `gate-${id}`);
  const job = call('Bash', {
    command: `until test -e ${gate}; do sleep 0.01; done; echo built`,
    description: 'Build it',
    run_in_background: true,
  });
  await talk.turn('Build', [{ calls: [job] }, { text: 'Started.' }]);
  const turns = talk.all('turn.ended').length;
  world.model.enqueue({ text: 'I see.' });
  await writeFile(gate, '');
  await talk.nth('turn.ended', turns + 1);
  const held = world.model.enqueue({ text: 'Half', hold: true });
  const { prompt_id } = await talk.prompt('Last');
  await held.sent;
  const later = await talk.prompt('and this');
  await world.ok('POST', `${talk.path}/prompts/${later.prompt_id}:steer`);
  world.model.enqueue({ text: 'All done.' });
  held.release();
  await talk.settled(prompt_id);
}

describe('pages of any size', () => {
  it('have each item exactly once and in order, the head with the oldest', async () => {
    await marked();
    const whole = (await pageOf(world, id, 'main', { page_size: 100 })).items;
    expect(shown(whole)).toEqual(MARKED);
    for (const size of [1, 2, 3, 4]) {
      let page = await pageOf(world, id, 'main', { page_size: size });
      let back = page.items;
      while (page.has_more) {
        const oldest = back.find(({ kind }) => kind === 'turn');
        page = await pageOf(world, id, 'main', { page_size: size, before_turn: oldest ? itemId(oldest) : '' });
        back = [...page.items, ...back];
      }
      expect(back).toEqual(whole);
      let after = 't0';
      const forth: Item[] = [];
      do {
        page = await pageOf(world, id, 'main', { page_size: size, after_turn: after });
        forth.push(...page.items);
        const newest = forth.findLast(({ kind }) => kind === 'turn');
        after = newest ? itemId(newest) : '';
      } while (page.has_more);
      expect(shown(forth)).toEqual(['t1', 't2', 'plan.exit']);
    }
    expect(shown((await pageOf(world, id, 'main', { before_turn: 't0' })).items)).toEqual(['plan.enter', 'plan.exit']);
  });

  it('of a session without a turn have only the head', async () => {
    await control({ plan_mode: true });
    expect(await pageOf(world, id)).toMatchObject({ items: [{ marker: 'plan.enter' }], has_more: false });
    expect((await pageOf(world, id, 'main', { after_turn: 't0' })).items).toEqual([]);
  });
});

describe('user messages', () => {
  it('are typed prompts: no notifications, steered texts or tasks of other agents', async () => {
    await worked();
    const page = await pageOf(world, id);
    const turns = page.items.filter((item) => item.kind === 'turn');
    const typed = turns.filter(({ prompt, attachmentIds }) => prompt !== undefined || attachmentIds !== undefined);
    const agents = await userMessages();
    expect(agents.map(({ agent_id }) => agent_id)).toEqual(page.agents.map(({ agentId }) => agentId));
    expect(agents).toMatchObject([
      { agent_id: 'main', messages: [{ prompt: 'Count' }, { prompt: 'Build' }, { prompt: 'Last' }] },
      { agent_id: 'agent-1', messages: [], attachments: [] },
    ]);
    expect(agents[0]?.messages.map(({ turn_id }) => turn_id)).toEqual(typed.map(({ turnId }) => turnId));
    // The others are in the transcript, as texts of steps or as turns.
    const entered = turns.flatMap(({ steps }) =>
      steps.flatMap(({ frames }) => frames.filter((frame) => frame.kind === 'text' && frame.role === 'user')),
    );
    expect(entered).toContainEqual(expect.objectContaining({ text: 'and this' }));
    expect(turns.length + entered.length).toBeGreaterThan(typed.length + 1);
    expect((await pageOf(world, id, 'agent-1')).items).toMatchObject([{ turnId: 't0', origin: { kind: 'other' } }]);
    expect(await userMessages('?agent_id=agent-1')).toEqual(agents.slice(1));
  });
});

describe('over reloads of a session', () => {
  it('numbers only increase, and a number of an earlier load cannot be continued', async () => {
    await worked();
    const live = await pageOf(world, id);
    const child = await pageOf(world, id, 'agent-1');
    const task = live.tasks.find(({ kind }) => kind === 'subagent');
    expect(task).toMatchObject({ agentId: 'agent-1', state: 'completed' });
    let last = live.seq ?? 0;
    const lives: (() => Promise<unknown>)[] = [
      unloaded,
      () => world.ok('POST', `${talk.path}:archive`),
      () => world.restart(),
    ];
    for (const end of lives) {
      await end();
      expect(loaded()).toBe(false);
      const cold = await pageOf(world, id);
      expect(cold).not.toHaveProperty('seq');
      sameAs(cold, live);
      sameAs(await pageOf(world, id, 'agent-1'), child);
      for (const since of [0, last]) {
        expect(await opsOf(world, id, since)).toEqual({
          agent_id: 'main',
          batches: [],
          latest_seq: 0,
          complete: false,
        });
      }
      expect(loaded()).toBe(false);
      const archived = (await world.ok('GET', talk.path)) as { archived: boolean };
      if (archived.archived) await world.ok('POST', `${talk.path}:restore`);
      // Using the session loads it.
      await world.server.app.sessions.use(id, () => undefined);
      const again = await pageOf(world, id);
      sameAs(again, live);
      expect(again.seq).toBeGreaterThan(last);
      expect(await opsOf(world, id, last)).toMatchObject({ batches: [], complete: false, latest_seq: again.seq });
      expect(await opsOf(world, id, 0)).toMatchObject({ batches: [], complete: false });
      last = again.seq ?? 0;
    }
  });

  it('an archived session reads the same', async () => {
    await marked();
    const live = await pageOf(world, id);
    const messages = await userMessages();
    await world.ok('POST', `${talk.path}:archive`);
    sameAs(await pageOf(world, id), live);
    expect(await userMessages()).toEqual(messages);
    expect(await world.ok('GET', at('/plan?agent_id=main'))).toEqual({ agent_id: 'main', plans: [] });
    expect(loaded()).toBe(false);
  });
});

describe('reading', () => {
  /** All files in a folder with their bytes. */
  async function filesOf(dir: string): Promise<Record<string, string>> {
    const entries = await readdir(dir, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    return Object.fromEntries(await Promise.all(files.map(async (path) => [path, await readFile(path, 'latin1')])));
  }

  it('loads no session, writes no file and lists only existing agents, loaded or not', async () => {
    await worked();
    const folder = sessionFolder(world.server.home, talk.session);
    const everything = async () => {
      for (const agent of ['main', 'agent-1', 'agent-77', 'nobody']) {
        const page = await pageOf(world, id, agent);
        expect(page.agents.map(({ agentId }) => agentId)).toEqual(['main', 'agent-1']);
        const plans = plansSchema.parse(await world.ok('GET', at(`/plan?agent_id=${agent}`)));
        expect(plans).toEqual({ agent_id: agent, plans: [] });
        expect((await userMessages(`?agent_id=${agent}`)).map(({ agent_id }) => agent_id)).toEqual([agent]);
        await opsOf(world, id, 0, agent);
        if (agent === 'main' || agent === 'agent-1') continue;
        expect(page).toMatchObject({ items: [], has_more: false, tasks: [], meta: {}, pending_interactions: [] });
      }
      expect((await userMessages()).map(({ agent_id }) => agent_id)).toEqual(['main', 'agent-1']);
      const unknown = await world.api('GET', at('/plan?agent_id=nobody&tool_call_id=call_1'));
      expect(unknown).toMatchObject({ code: 40416, msg: expect.stringContaining('call_1') });
    };
    const ofLoaded = await filesOf(folder);
    await everything();
    expect(await filesOf(folder)).toEqual(ofLoaded);
    expect(await opsOf(world, id, 0, 'nobody')).toMatchObject({ latest_seq: 0, complete: true });

    await unloaded();
    const row = await world.ok('GET', talk.path);
    const before = await filesOf(folder);
    await everything();
    expect(await filesOf(folder)).toEqual(before);
    expect(await world.ok('GET', talk.path)).toEqual(row);
    expect(loaded()).toBe(false);
    expect(await opsOf(world, id, 0, 'nobody')).toMatchObject({ latest_seq: 0, complete: false });
  });
});
