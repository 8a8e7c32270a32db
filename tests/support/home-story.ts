/** The sessions of a home that becomes a fixture, written by a build through the API that all builds have. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from '@decimalturn/toml-patch';
import * as z from 'zod';
import type { BuiltHome } from './built-home.ts';
import { putFile } from './files.ts';
import { comparable } from './home-fixture.ts';
import { homeRequests } from './home-requests.ts';
import type { Script } from './model-server.ts';
import { spawnServer, type SpawnedServer } from './spawned-server.ts';
import { call } from './talk.ts';
import { upload as uploadFile } from './uploads.ts';

/** A home's content, as the build that wrote it replied. */
export const storySchema = z.object({
  /** Replies about sessions, by their id. */
  sessions: z.record(z.string(), z.looseObject({})),
  /** A word that was said in a session, by its id. */
  words: z.record(z.string(), z.string()),
  /** Id of a session whose server was killed during a turn, with its messages. */
  killed: z.object({ id: z.string(), messages: z.array(z.looseObject({})) }),
  workspaces: z.looseObject({}),
  config: z.looseObject({}),
  upload: z.object({ id: z.string(), text: z.string() }),
});
export type HomeStory = z.infer<typeof storySchema>;

/** More than a line of the journal may contain. */
const LONG_ANSWER = 'A zebra has stripes. '.repeat(785);
/** Shorter reports of a subagent are followed up. */
const REPORT = 'The file is about zebras, says the okapi. '.repeat(6);
const SUMMARY = '## Task\nThe giraffe is called Gerda.';

const completed = z.looseObject({ last_turn_reason: z.literal('completed') });
const withId = z.looseObject({ id: z.string() });
const calls = (name: string, args: object): Script => ({ calls: [call(name, args)] });

/** Steps of a story, on one server. */
function storyteller(server: SpawnedServer, place: BuiltHome) {
  const requests = homeRequests(server, place);
  const { ok, prompt, idle, pending } = requests;

  async function open(title: string, more: object = {}): Promise<string> {
    const body = { title, metadata: { cwd: place.project, ...more } };
    return withId.parse(await ok('POST', '/sessions', body)).id;
  }

  /** Runs a prompt to its end; `meanwhile` runs before it has settled. */
  async function turn(id: string, text: string, scripts: Script[], meanwhile = async () => {}): Promise<void> {
    for (const script of scripts) place.model.enqueue(script);
    await prompt(id, text);
    await meanwhile();
    await idle(id);
    completed.parse(await ok('GET', `/sessions/${id}`));
  }

  async function decide(id: string, body: object): Promise<void> {
    await ok('POST', `/sessions/${id}/approvals/${await pending(id, 'approval')}`, body);
  }

  async function answer(id: string): Promise<void> {
    const answers = { q_0: { kind: 'single', option_id: 'opt_0_1' } };
    await ok('POST', `/sessions/${id}/questions/${await pending(id, 'question')}`, { answers });
  }

  return { requests, open, turn, decide, answer };
}
type Storyteller = ReturnType<typeof storyteller>;

/** Calls of tools, approvals, a question, a subagent, a background command. */
async function tellWork({ open, turn, decide, answer }: Storyteller): Promise<string> {
  const id = await open('Work', { ticket: 42 });
  const todos = [
    { title: 'Look', status: 'done' },
    { title: 'Leap', status: 'pending' },
  ];
  const reading = [call('Read', { path: 'README.md' }), call('TodoList', { todos })];
  await turn(id, 'Read it.', [
    { thinking: 'They ask me.', text: 'Hello, aardvark.', calls: reading },
    { text: LONG_ANSWER },
  ]);
  const question = { question: 'Which one?', options: [{ label: 'One' }, { label: 'Two' }] };
  const writing = [
    calls('Bash', { command: 'echo notes > notes.md', description: 'Write notes' }),
    calls('Bash', { command: 'rm notes.md', description: 'Remove notes' }),
    calls('AskUserQuestion', { questions: [question] }),
    { text: 'The notes stay.' },
  ];
  await turn(id, 'Write notes.', writing, async () => {
    await decide(id, { decision: 'approved', scope: 'session' });
    await decide(id, { decision: 'rejected', feedback: 'Keep them.' });
    await answer(id);
  });
  await turn(id, 'Delegate it.', [
    calls('Agent', { prompt: 'Read about zebras.', description: 'Reading', subagent_type: 'explore' }),
    calls('Read', { path: 'README.md' }),
    { text: REPORT },
    { text: 'The subagent has read it.' },
  ]);
  const waiting = [
    calls('Bash', { command: 'sleep 1; echo ran', description: 'Run', run_in_background: true }),
    calls('WaitFor', { timeout: 60 }),
    { text: 'It has run.' },
  ];
  await turn(id, 'Run it in the background.', waiting, () => decide(id, { decision: 'approved' }));
  return id;
}

/** A copy without the last turn, which is archived. */
async function tellCopy({ requests: { ok } }: Storyteller, original: string): Promise<string> {
  const { id } = withId.parse(await ok('POST', `/sessions/${original}:fork`, { title: 'Copy' }));
  await ok('POST', `/sessions/${id}:undo`, { count: 1 });
  await ok('POST', `/sessions/${id}:archive`);
  return id;
}

/** A compaction, plan mode and other settings of the session. */
async function tellCompacted({ requests: { ok, idle }, open, turn }: Storyteller, model: BuiltHome['model']) {
  const id = await open('Giraffes');
  await turn(id, 'The giraffe is called Gerda.', [{ text: 'I remember.' }]);
  model.enqueue({ text: SUMMARY, usage: { input: 100, output: 10 } });
  await ok('POST', `/sessions/${id}:compact`, { instruction: 'Keep names.' });
  await idle(id);
  await turn(id, 'What is its name?', [{ text: 'Gerda.' }]);
  const agent_config = { permission_mode: 'auto', thinking: 'off', plan_mode: true };
  await ok('POST', `/sessions/${id}/profile`, { title: 'Giraffes of today', agent_config });
  return id;
}

/** A skill and the command of a plugin, where the build has them. */
async function tellTaught(story: Storyteller, place: BuiltHome, server: SpawnedServer): Promise<string | undefined> {
  const { requests, open } = story;
  if ((await server.api('GET', '/plugins')).code !== 0) return undefined;
  const plugin = join(place.root, 'plugin');
  await putFile(join(plugin, 'service.plugin.json'), '{"name":"told","version":"1.0.0","commands":"./commands"}');
  await putFile(join(plugin, 'commands/begin.md'), 'Begin with $ARGUMENTS.');
  await requests.ok('POST', '/plugins', { source: plugin });
  const id = await open('Taught');
  for (const name of ['greet', 'told:begin']) {
    place.model.enqueue({ text: `${name} for the wombat.` });
    await requests.ok('POST', `/sessions/${id}/skills/${encodeURIComponent(name)}:activate`, { args: 'all' });
    await requests.idle(id);
  }
  return id;
}

/** A turn that waits for an approval, and a prompt after it. */
async function tellKilled({ requests: { prompt, pending, read }, open, turn }: Storyteller, model: BuiltHome['model']) {
  const id = await open('Killed');
  await turn(id, 'Say hello.', [{ text: 'Hello, quokka.' }]);
  model.enqueue({ text: 'I remove them.', ...calls('Bash', { command: 'rm notes.md' }) });
  await prompt(id, 'Remove the notes.');
  await pending(id, 'approval');
  await prompt(id, 'And then?');
  return { id, messages: (await read(id)).messages };
}

const UPLOAD = 'Notes about zebras.\n';

/** Writes the home with the build whose program is `entry`. Its server has exited afterwards. */
export async function writeStory(entry: string, place: BuiltHome): Promise<HomeStory> {
  const { home, project, model } = place;
  const config = { ...model.providerConfig(), default_permission_mode: 'manual' };
  await writeFile(join(project, 'README.md'), 'About zebras.\n');
  await writeFile(join(home, 'config.toml'), `# Written by hand.\n${stringify(config)}`);
  await putFile(join(home, 'skills/greet/SKILL.md'), '---\nname: greet\ndescription: Greets\n---\nGreet them.\n');

  let server = await spawnServer({ home, entry });
  try {
    const first = storyteller(server, place);
    const uploaded = await uploadFile(server, { content: UPLOAD, filename: 'notes.txt' });
    const work = await tellWork(first);
    const compacted = await tellCompacted(first, model);
    const copy = await tellCopy(first, compacted);
    const taught = await tellTaught(first, place, server);
    await server.stop();

    // Replies about sessions that are not loaded, as a build reads those of an earlier one.
    server = await spawnServer({ home, entry });
    const second = storyteller(server, place);
    const { ok, read } = second.requests;
    const ids = [work, copy, compacted, ...(taught === undefined ? [] : [taught])];
    const sessions = Object.fromEntries(await Promise.all(ids.map(async (id) => [id, await read(id)] as const)));
    const killed = await tellKilled(second, model);
    const replies = { workspaces: await ok('GET', '/workspaces'), config: await ok('GET', '/config') };
    await server.stop('SIGKILL');
    const words = {
      [work]: 'okapi',
      [copy]: 'giraffe',
      [compacted]: 'Gerda',
      ...(taught === undefined ? {} : { [taught]: 'wombat' }),
      [killed.id]: 'quokka',
    };
    const upload = { id: uploaded.id, text: UPLOAD };
    return storySchema.parse(comparable({ sessions, words, killed, ...replies, upload }, place));
  } finally {
    await server.close();
  }
}
