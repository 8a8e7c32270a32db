/** Transcripts over a real WebSocket. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canonical, listed, stateOfPage } from '#support/transcripts.ts';
import { followTranscripts, pageOf, transcriptFrames } from '#support/transcript-follower.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

describe('a connection that follows a transcript', () => {
  it('gets a baseline, then each batch, and has what a page has', async () => {
    const { id } = await world.session();
    const following = await followTranscripts(world, id);
    const { client, feed } = following;
    await feed.follow({ '*': 'delta' });
    expect(client.frames.at(-1)).toMatchObject({
      code: 0,
      payload: { accepted: [id], not_found: [], resync_required: [], cursors: { [id]: { seq: 1 } } },
    });
    const [reset] = transcriptFrames(client, id);
    expect(reset).toMatchObject({ type: 'transcript.reset', agent_id: 'main', has_more_older: false, seq: 0 });
    world.model.enqueue({
      thinking: 'Check first.',
      text: 'Reading.',
      calls: [{ name: 'Read', args: { path: 'a.txt' } }],
    });
    world.model.enqueue({ text: ['Do', 'ne.'] });
    await world.prompt(id, 'Show a.txt');
    await client.waitFor(({ payload }) => JSON.stringify(payload).includes('"kind":"ended"'));
    await following.caughtUp();
    const page = await pageOf(world, id);
    expect(page.items).toMatchObject([{ turnId: 't0', state: 'completed', steps: [{}, {}] }]);
    const state = feed.state('main');
    expect(state && listed(state)).toEqual(listed(stateOfPage(page)));
    expect(state && canonical(state)).toEqual(canonical(stateOfPage(page)));
    await following.close();
  });
});
