/**
 * The order of events in the main scenarios, as one client with one connection receives them: every durable event with
 * its payload, deltas and phases at their positions. Clients depend on it: review a changed file before accepting it.
 */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test, expect } from 'vitest';
import * as z from 'zod';
import type { Session } from '#schema/rest/session.ts';
import { putFile } from '#support/files.ts';
import { recordEvents, type EventLogOptions, type Recorder } from '#support/event-log.ts';
import { manualClock } from '#support/manual-clock.ts';
import { hostile, mcpTalks } from '#support/mcp-talk.ts';
import type { ModelServer, Script } from '#support/model-server.ts';
import { sends, startWebHost, testNetwork, type WebHost } from '#support/web-host.ts';
import { startWorld, type World, type WorldOptions } from '#support/world.ts';
import { connect, type ReceivedFrame, type WsClient } from '#support/ws-client.ts';

interface Stage {
  world: World;
  model: ModelServer;
  session: Session;
  client: WsClient;
  recorder: Recorder;
  /** Submits a prompt and returns its id. */
  prompt(text: string, more?: Record<string, unknown>): Promise<string>;
  /** Waits for the n-th frame of a type since the recording started. */
  until(type: string, count?: number): Promise<ReceivedFrame>;
  post(path: string, body?: unknown): Promise<unknown>;
  /** Answers the pending approval. */
  decide(body: Record<string, unknown>): Promise<unknown>;
}

const asked = { name: 'Bash', args: { command: 'cat a.txt', description: 'Show the file' } };
const reads = { name: 'Read', args: { path: 'a.txt' } };

/** Hooks that wait for the file `gate`, add a text, or refuse, by words in the prompt. */
const skillHooks = [
  { event: 'UserPromptSubmit', matcher: 'wait for the gate', command: 'until [ -e gate ]; do sleep 0.05; done' },
  { event: 'UserPromptSubmit', matcher: 'noted', command: 'echo A note.' },
  { event: 'UserPromptSubmit', matcher: 'forbidden', command: 'echo Forbidden. >&2; exit 2' },
];

/** Runs a scenario on a new session and compares its client's frames with the golden file of that name. */
async function play(world: World, name: string, scenario: (stage: Stage) => Promise<void>, options?: EventLogOptions) {
  const session = await world.session();
  const client = await connect(world.server);
  try {
    await client.send({ type: 'subscribe', payload: { session_ids: [session.id] } });
    const recorder = recordEvents(client, {
      masks: { [world.project]: '<project>', [world.server.home]: '<home>' },
      ...options,
    });
    const start = client.frames.length;
    const id = session.id;
    const stage: Stage = {
      world,
      model: world.model,
      session,
      client,
      recorder,
      prompt: async (text, more) => (await world.prompt(id, text, more)).prompt_id,
      until(type, count = 1) {
        let seen = 0;
        const is = (frame: ReceivedFrame) => frame.type === type && client.frames.indexOf(frame) >= start;
        return client.waitFor((frame) => is(frame) && (seen += 1) === count);
      },
      post: (path, body = {}) => world.ok('POST', `/sessions/${id}${path}`, body),
      async decide(body) {
        const [approval] = await world.approvals(id);
        return stage.post(`/approvals/${approval?.approval_id}`, body);
      },
    };
    await scenario(stage);
    await expect(await recorder.text()).toMatchFileSnapshot(`golden/${name}.txt`);
  } finally {
    await client.close();
  }
}

/** The scenarios whose files have every payload whole. */
const MAIN_SCENARIOS = new Set(['first-turn', 'approval-approved', 'subagent', 'task', 'compaction']);

/** A suite of scenarios on one server; `about` are the types of the payloads that it is about. */
function scenarios(
  title: string,
  worldOptions: WorldOptions,
  define: (add: Add) => void,
  about: readonly string[] = [],
): void {
  describe(title, () => {
    let world: World;
    beforeAll(async () => {
      world = await startWorld(worldOptions);
    });
    afterAll(() => world.close());
    define((name, scenario, options) => {
      const whole = MAIN_SCENARIOS.has(name) ? 'everything' : about;
      test(name.replaceAll('-', ' '), () => play(world, name, scenario, { about: whole, ...options }));
    });
  });
}
type Add = (name: string, scenario: (stage: Stage) => Promise<void>, options?: EventLogOptions) => void;

scenarios('a turn', {}, (add) => {
  add('first-turn', async ({ model, prompt, until }) => {
    model.enqueue({ text: ['Hello wo', 'rld this', ' is text'] });
    await prompt('Say hello');
    await until('prompt.completed');
  });

  add('second-turn', async ({ model, prompt, until, recorder }) => {
    model.enqueue({ text: 'One.' });
    await prompt('First');
    await until('prompt.completed');
    model.enqueue({ text: 'Two.' });
    await recorder.act('second prompt', () => prompt('Second'));
    await until('prompt.completed', 2);
  });

  add('queued-prompt', async ({ model, prompt, until, recorder }) => {
    const first = model.enqueue({ text: ['One', '.'], hold: true });
    model.enqueue({ text: 'Two.' });
    await prompt('First');
    await until('assistant.delta', 2);
    await recorder.act('second prompt', () => prompt('Second'));
    await recorder.act('the model goes on', async () => first.release());
    await until('prompt.completed', 2);
  });

  add('queued-prompt-removed', async ({ model, prompt, post, until, recorder }) => {
    const first = model.enqueue({ text: 'One.', hold: true });
    await prompt('First');
    await first.sent;
    const second = await prompt('Second');
    await recorder.act('POST prompts/{id}:abort', () => post(`/prompts/${second}:abort`));
    await recorder.act('the model goes on', async () => first.release());
    await until('prompt.completed');
  });
});

scenarios(
  'a turn that is steered',
  {},
  (add) => {
    /** A streaming turn into which a queued prompt is steered. */
    async function steered({ model, prompt, post, until, recorder }: Stage, first: Script) {
      const held = model.enqueue({ ...first, hold: true });
      await prompt('First');
      await held.sent;
      await until('assistant.delta');
      const second = await recorder.act('second prompt', () => prompt('Second'));
      await recorder.act('POST prompts:steer', () => post('/prompts:steer', { prompt_ids: [second] }));
      return held;
    }

    add('steer', async (stage) => {
      const held = await steered(stage, { text: 'One.' });
      stage.model.enqueue({ text: 'Two.' });
      await stage.recorder.act('the model goes on', async () => held.release());
      await stage.until('prompt.completed');
    });

    add('steer-then-abort', async (stage) => {
      await steered(stage, { text: 'One.' });
      await stage.recorder.act('POST :abort', () => stage.post(':abort'));
      await stage.until('prompt.aborted');
    });

    add('steer-then-failure', async (stage) => {
      const held = await steered(stage, { text: 'I will not', finish: 'content_filter' });
      await stage.recorder.act('the model goes on', async () => held.release());
      await stage.until('prompt.completed');
    });
  },
  ['context.spliced'],
);

scenarios(
  'tool calls',
  {},
  (add) => {
    const approval = [
      ['approval-approved', { decision: 'approved', feedback: 'fine' }],
      ['approval-for-session', { decision: 'approved', scope: 'session' }],
      ['approval-rejected', { decision: 'rejected', feedback: 'not now' }],
    ] as const;
    for (const [name, answer] of approval) {
      add(name, async ({ model, prompt, decide, until, recorder }) => {
        model.enqueue({ thinking: ['I have to ', 'look.'], text: 'Running.', calls: [asked] });
        model.enqueue({ text: 'It says hello.' });
        await prompt('Show a.txt');
        await until('event.approval.requested');
        await recorder.act(`POST approvals/{id} ${JSON.stringify(answer)}`, () => decide(answer));
        await until('prompt.completed');
      });
    }

    add('two-calls', async ({ world, model, prompt, until, recorder }) => {
      const gate = join(world.project, 'gate');
      const waits = `printf one; until test -e gate; do sleep 0.01; done; printf two`;
      model.enqueue({ calls: [reads, { name: 'Bash', args: { command: waits } }] });
      model.enqueue({ text: 'Both done.' });
      await prompt('Do both', { permission_mode: 'yolo' });
      await until('tool.result');
      await until('tool.progress');
      await recorder.act('the command may end', () => writeFile(gate, ''));
      await until('prompt.completed');
    });

    add('two-approvals', async ({ model, prompt, decide, until, recorder }) => {
      model.enqueue({ calls: [asked, { name: 'Bash', args: { command: 'rm a.txt' } }] });
      model.enqueue({ text: 'Done.' });
      await prompt('Ask twice');
      await until('event.approval.requested');
      await recorder.act('approve the first', () => decide({ decision: 'approved' }));
      await until('event.approval.requested', 2);
      await recorder.act('reject the second', () => decide({ decision: 'rejected' }));
      await until('prompt.completed');
    });

    add('calls-that-cannot-run', async ({ model, prompt, until }) => {
      model.enqueue({
        calls: [
          { name: 'Teleport', args: { to: 'moon' } },
          { name: 'Read', args: { file: 1 } },
        ],
      });
      model.enqueue({ text: 'Neither worked.' });
      await prompt('Try');
      await until('prompt.completed');
    });
  },
  ['tool.call.started', 'tool.result'],
);

const promptHooks = [
  { event: 'UserPromptSubmit', matcher: '^Add', command: 'echo The branch is main.' },
  { event: 'UserPromptSubmit', matcher: '^Refuse', command: 'echo Not today. >&2; exit 2' },
  { event: 'UserPromptSubmit', matcher: '^Hang', command: 'exec sleep 60' },
];

scenarios(
  'a hook on the prompt',
  { config: { hooks: promptHooks } },
  (add) => {
    add('hook-adds-text', async ({ model, prompt, until }) => {
      model.enqueue({ text: 'I see.' });
      await prompt('Add what you know');
      await until('prompt.completed');
    });

    add('hook-refuses-the-prompt', async ({ prompt, until }) => {
      await prompt('Refuse this');
      await until('prompt.completed');
    });

    add('abort-during-a-hook', async ({ model, prompt, post, until, recorder }) => {
      const first = model.enqueue({ text: 'One.', hold: true });
      model.enqueue({ text: 'Three.' });
      await prompt('First');
      await first.sent;
      const second = await prompt('Hang on');
      await prompt('Third');
      await recorder.act('the model goes on', async () => first.release());
      await until('event.session.work_changed', 3);
      await recorder.act('POST prompts/{id}:abort', () => post(`/prompts/${second}:abort`));
      await until('prompt.completed', 2);
    });
  },
  ['context.spliced'],
);

scenarios(
  'history',
  {},
  (add) => {
    add('undo', async ({ model, prompt, post, until, recorder }) => {
      for (const text of ['One.', 'Two.', 'Three.']) model.enqueue({ text });
      for (const [n, text] of ['First', 'Second', 'Third'].entries()) {
        await prompt(text);
        await until('prompt.completed', n + 1);
      }
      await recorder.act('POST :undo {"count":2}', () => post(':undo', { count: 2 }));
      await until('context.undone');
      model.enqueue({ text: 'Again.' });
      await recorder.act('POST prompts', () => prompt('Fourth'));
      await until('prompt.completed', 4);
    });

    add('fork-and-child', async ({ world, model, session, prompt, post, until, recorder }) => {
      model.enqueue({ text: 'One.' });
      await prompt('First');
      await until('prompt.completed');
      const copy = z.object({ id: z.string() });
      const { id } = copy.parse(await recorder.act('POST :fork', () => post(':fork')));
      await recorder.act('POST children', () => post('/children', { title: 'Side work' }));
      model.enqueue({ text: 'Two.' });
      await recorder.act('POST prompts of the fork', () => world.prompt(id, 'Second'));
      await until('event.session.work_changed', 4);
      expect((await world.messages(session.id)).length).toBeLessThan((await world.messages(id)).length);
    });
  },
  ['context.spliced'],
);

// The clock does not advance, so that the usage of goals is the same in each run.
scenarios(
  'a goal',
  { clock: manualClock() },
  (add) => {
    const setGoal = { agent_config: { goal_objective: 'Ship it' } };
    const control = (goal_control: string) => ({ agent_config: { goal_control } });
    const reached = { calls: [{ name: 'UpdateGoal', args: { status: 'complete' } }] };

    add('goal-reached', async ({ model, prompt, post, until, recorder }) => {
      await recorder.act('POST profile {"goal_objective"}', () => post('/profile', setGoal));
      for (const script of [{ text: 'Begun.' }, reached, { text: 'Shipped.' }]) model.enqueue(script);
      await prompt('Begin');
      await until('turn.ended', 2);
    });

    add('goal-paused-and-resumed', async ({ model, post, prompt, until, recorder }) => {
      await recorder.act('POST profile {"goal_objective"}', () => post('/profile', setGoal));
      const held = model.enqueue({ text: 'Begun.', hold: true });
      await prompt('Begin');
      await held.sent;
      await recorder.act('POST profile {"goal_control":"pause"}', () => post('/profile', control('pause')));
      held.release();
      await until('prompt.completed');
      for (const script of [{ text: 'Further.' }, reached, { text: 'Shipped.' }]) model.enqueue(script);
      await recorder.act('POST profile {"goal_control":"resume"}', () => post('/profile', control('resume')));
      await until('turn.ended', 3);
    });

    add('goal-cancelled', async ({ post, recorder }) => {
      await recorder.act('POST profile {"goal_objective"}', () => post('/profile', setGoal));
      await recorder.act('POST profile {"goal_control":"cancel"}', () => post('/profile', control('cancel')));
    });

    add('goal-cancelled-during-its-turn', async ({ model, post, prompt, until, recorder }) => {
      await recorder.act('POST profile {"goal_objective"}', () => post('/profile', setGoal));
      const held = model.enqueue({ text: 'Begun.', hold: true });
      await prompt('Begin');
      await held.sent;
      await until('assistant.delta');
      await recorder.act('POST profile {"goal_control":"cancel"}', () => post('/profile', control('cancel')));
      await until('prompt.aborted');
    });

    add('goal-start-approved', async ({ model, prompt, until, decide, recorder }) => {
      model.enqueue({ calls: [{ name: 'CreateGoal', args: { objective: 'Ship it' } }] });
      for (const script of [reached, { text: 'Shipped.' }]) model.enqueue(script);
      await prompt('Make it your goal');
      await until('event.approval.requested');
      const answer = { decision: 'approved', selected_label: 'yolo' };
      await recorder.act('POST approvals/{id} {"selected_label":"yolo"}', () => decide(answer));
      await until('prompt.completed');
    });
  },
  ['context.spliced', 'tool.result'],
);

const cronClock = manualClock(new Date(2026, 0, 5, 10, 0, 30).getTime());
scenarios(
  'a scheduled job',
  { clock: cronClock, config: { cron: { no_jitter: true } } },
  (add) => {
    add('cron-job', async ({ model, prompt, until, recorder }) => {
      const args = { cron: '5 10 * * *', prompt: 'Look at the build', recurring: false };
      for (const script of [{ calls: [{ name: 'CronCreate', args }] }, { text: 'Later.' }, { text: 'It is green.' }]) {
        model.enqueue(script);
      }
      await prompt('Remind me', { permission_mode: 'yolo' });
      await until('prompt.completed');
      await recorder.act('its time comes', async () => cronClock.advance(5 * 60_000));
      await until('turn.ended', 2);
    });
  },
  ['context.spliced'],
);

scenarios('a question', {}, (add) => {
  const options = [{ label: 'A', description: 'The first.' }, { label: 'B' }];
  const args = { questions: [{ question: 'Which?', header: 'Choice', options, multi_select: false }] };
  const asks = { name: 'AskUserQuestion', args };
  const questionOf = async (until: Stage['until']) =>
    `/questions/${String((await until('event.question.requested')).payload.question_id)}`;

  add('question-answered', async ({ model, prompt, post, until, recorder }) => {
    model.enqueue({ calls: [asks] });
    model.enqueue({ text: 'A it is.' });
    await prompt('Ask me');
    const question = await questionOf(until);
    const answers = { q_0: { kind: 'single', option_id: 'opt_0_0' } };
    await recorder.act('POST questions/{id}', () => post(question, { answers }));
    await until('prompt.completed');
  });

  add('question-dismissed', async ({ world, session, model, prompt, until, recorder }) => {
    model.enqueue({ calls: [asks] });
    model.enqueue({ text: 'Then not.' });
    await prompt('Ask me');
    const question = await questionOf(until);
    const path = `/sessions/${session.id}${question}:dismiss`;
    await recorder.act('POST questions/{id}:dismiss', () => world.api('POST', path));
    await until('prompt.completed');
  });

  add('abort-during-a-question', async ({ model, prompt, post, until, recorder }) => {
    model.enqueue({ calls: [reads, asks, { name: 'Glob', args: { pattern: '*' } }] });
    await prompt('Read, then ask');
    await questionOf(until);
    await until('tool.result');
    await recorder.act('POST :abort', () => post(':abort'));
    await until('prompt.aborted');
  });
});

scenarios('a subagent', {}, (add) => {
  const found = 'The file a.txt holds the one word hello. '.repeat(6);
  const starts = {
    name: 'Agent',
    args: { prompt: 'Count the words of a.txt', description: 'count words', subagent_type: 'plan' },
  };

  add('subagent', async ({ model, prompt, until }) => {
    model.enqueue({ calls: [starts] });
    model.enqueue({ text: ['One ', 'word.'] });
    model.enqueue({ text: 'It is one.' });
    await prompt('Count the words');
    await until('prompt.completed', 2);
  });

  add('subagent-asked-again', async ({ model, prompt, until }) => {
    model.enqueue({ calls: [{ name: 'Agent', args: { prompt: 'Count', description: 'count' } }] });
    model.enqueue({ text: 'One.' });
    model.enqueue({ text: found });
    model.enqueue({ text: 'It is one.' });
    await prompt('Count the words');
    await until('prompt.completed', 3);
  });

  add('subagent-failed', async ({ model, prompt, until }) => {
    model.enqueue({ calls: [starts] });
    model.enqueue({ status: 400, error: 'bad thing' });
    model.enqueue({ text: 'It did not work.' });
    await prompt('Count the words');
    await until('prompt.completed', 2);
  });

  add('subagent-approval', async ({ model, prompt, until, decide, recorder }) => {
    model.enqueue({ calls: [{ name: 'Agent', args: { prompt: 'Count', description: 'count' } }] });
    model.enqueue({ calls: [asked] });
    model.enqueue({ text: found });
    model.enqueue({ text: 'It is one.' });
    await prompt('Count the words');
    await until('event.approval.requested');
    await recorder.act('POST approvals/{id}', () => decide({ decision: 'approved' }));
    await until('prompt.completed', 2);
  });

  add('subagent-aborted', async ({ model, prompt, post, until, recorder }) => {
    model.enqueue({ calls: [starts] });
    const held = model.enqueue({ text: 'One', hold: true });
    await prompt('Count the words');
    await held.sent;
    await until('assistant.delta');
    await recorder.act('POST :abort', () => post(':abort'));
    await until('prompt.aborted', 2);
  });
});

const swarmClock = manualClock();
/** One member at a time: concurrent members would have no deterministic order. */
const oneByOne = () => ({ ...process.env, SERVICE_CODE_AGENT_SWARM_MAX_CONCURRENCY: '1' });

scenarios('a swarm', { clock: swarmClock, env: oneByOne }, (add) => {
  const starts = {
    name: 'AgentSwarm',
    args: {
      description: 'count words',
      prompt_template: 'Count the words of {{item}}',
      items: ['a.txt', 'b.txt'],
      subagent_type: 'plan',
    },
  };
  const goOn = async (ms: number) => {
    await expect.poll(() => swarmClock.waits(), { interval: 1 }).toContain(ms);
    swarmClock.advance(ms);
  };

  add('swarm', async ({ model, prompt, until, recorder }) => {
    model.enqueue({ calls: [starts] });
    model.enqueue({ status: 429, error: 'slow down' });
    model.enqueue({ text: 'One word.' });
    model.enqueue({ status: 400, error: 'bad thing' });
    model.enqueue({ text: 'The first has one.' });
    await prompt('Count the words');
    await until('subagent.suspended');
    await recorder.act('3000 ms later', () => goOn(3000));
    await until('subagent.completed');
    await recorder.act('700 ms later', () => goOn(700));
    await until('prompt.completed', 3);
  });

  add('swarm-aborted', async ({ model, prompt, post, until, recorder }) => {
    model.enqueue({ calls: [starts] });
    const held = model.enqueue({ text: 'One', hold: true });
    await prompt('Count the words');
    await held.sent;
    await until('assistant.delta');
    await recorder.act('POST :abort', () => post(':abort'));
    await until('prompt.aborted', 2);
  });

  add('swarm-beside-another-call', async ({ model, prompt, until }) => {
    model.enqueue({ calls: [reads, starts] });
    model.enqueue({ text: 'Neither ran.' });
    await prompt('Count the words');
    await until('prompt.completed');
  });
});

/** A subagent starts when the test releases it: concurrently with the caller's turn the order would be random. */
const subagentGate = { event: 'SubagentStart', command: 'until test -e begin; do sleep 0.01; done; rm begin' };

/** Writes the skill `greet`, and `outer`, which loads it; returns a function that activates a skill. */
async function withSkills({ world, post }: Stage) {
  const file = (name: string) => join(world.server.home, 'skills', name, 'SKILL.md');
  const text = (name: string, body: string) => `---\nname: ${name}\ndescription: About ${name}\n---\n${body}\n`;
  await putFile(file('greet'), text('greet', 'Say hello to $0.'));
  await putFile(file('outer'), text('outer', 'Load greet.'));
  return (name: string, body: object) => post(`/skills/${encodeURIComponent(name)}:activate`, body);
}

const calls = (skill: string) => ({ calls: [{ name: 'Skill', args: { skill, args: 'bob' } }] });

scenarios(
  'a skill',
  { config: { hooks: skillHooks, builtin_product_skills: false } },
  (add) => {
    add('skill-activated', async (stage) => {
      const activate = await withSkills(stage);
      stage.model.enqueue({ text: 'Hello Bob.' });
      await activate('greet', { args: 'bob' });
      await stage.until('prompt.completed');
    });

    add('skill-steered', async (stage) => {
      const activate = await withSkills(stage);
      const held = stage.model.enqueue({ text: 'One.', hold: true });
      await stage.prompt('First');
      await held.sent;
      stage.model.enqueue({ text: 'Hello Bob.' });
      await stage.recorder.act('activation', () => activate('greet', { args: 'bob' }));
      held.release();
      await stage.until('prompt.completed');
    });

    add('skill-queued-during-a-hook', async (stage) => {
      const activate = await withSkills(stage);
      const gate = join(stage.world.project, 'gate');
      const submitted = stage.prompt('wait for the gate');
      await stage.until('prompt.submitted');
      await stage.recorder.act('activation', () => activate('greet', { args: 'bob' }));
      for (const text of ['One.', 'Hello Bob.']) stage.model.enqueue({ text });
      await writeFile(gate, '');
      await submitted;
      await stage.until('prompt.completed', 2);
    });

    add('skill-with-a-hook', async (stage) => {
      const activate = await withSkills(stage);
      stage.model.enqueue({ text: 'Hello.' });
      await activate('greet', { args: 'noted' });
      await stage.until('prompt.completed');
    });

    add('skill-refused-by-a-hook', async (stage) => {
      const activate = await withSkills(stage);
      await activate('greet', { args: 'forbidden' });
      await stage.until('prompt.completed');
    });

    add('skill-with-a-prompt', async (stage) => {
      await withSkills(stage);
      stage.model.enqueue({ text: 'Hello Bob.' });
      await stage.prompt('Be kind', { skills: [{ name: 'greet', args: 'bob' }] });
      await stage.until('prompt.completed');
    });

    add('skill-by-the-model', async (stage) => {
      await withSkills(stage);
      for (const script of [calls('outer'), calls('greet'), { text: 'Hello Bob.' }]) stage.model.enqueue(script);
      await stage.prompt('Go');
      await stage.until('prompt.completed');
    });

    add('plugin-command', async (stage) => {
      const source = join(stage.world.project, '..', 'plugin');
      await putFile(join(source, 'service.plugin.json'), '{"name":"tools","commands":"./commands"}');
      await putFile(join(source, 'commands', 'plain.md'), 'Go on with $ARGUMENTS.');
      await stage.world.ok('POST', '/plugins', { source });
      stage.model.enqueue({ text: 'Done.' });
      await stage.post('/skills/tools:plain:activate', { args: 'it' });
      await stage.until('prompt.completed');
    });
  },
  [
    'skill.activated',
    'plugin_command.activated',
    'prompt.queued',
    'prompt.steered',
    'prompt.submitted',
    'turn.started',
  ],
);

scenarios('a subagent in the background', { config: { hooks: [subagentGate] } }, (add) => {
  const starts = {
    name: 'Agent',
    args: { prompt: 'Count the words of a.txt', description: 'count words', subagent_type: 'plan' },
  };
  const letBegin = ({ world }: Stage) => writeFile(join(world.project, 'begin'), '');

  add('subagent-in-the-background', async (stage) => {
    const { model, prompt, until, recorder } = stage;
    model.enqueue({ calls: [{ ...starts, args: { ...starts.args, run_in_background: true } }] });
    for (const text of ['It counts.', 'One word.', 'It is one.']) model.enqueue({ text });
    await prompt('Count the words');
    await until('prompt.completed');
    await recorder.act('the subagent may begin', () => letBegin(stage));
    await until('turn.ended', 3);
  });

  add('subagent-detached', async (stage) => {
    const { model, prompt, post, until, recorder } = stage;
    model.enqueue({ calls: [starts] });
    const held = model.enqueue({ text: 'One word.', hold: true });
    for (const text of ['It counts.', 'It is one.']) model.enqueue({ text });
    await letBegin(stage);
    await prompt('Count the words');
    await held.sent;
    await until('assistant.delta');
    const { taskId } = (await until('subagent.spawned')).payload;
    await recorder.act('POST tasks/{id}:detach', () => post(`/tasks/${String(taskId)}:detach`));
    await until('prompt.completed');
    await recorder.act('the model goes on', async () => held.release());
    await until('turn.ended', 3);
  });
});

scenarios(
  'a subagent with a copy',
  { config: { experimental: { subagent_fork: true } } },
  (add) => {
    add('subagent-fork', async ({ model, prompt, until }) => {
      const args = { prompt: 'Name it', description: 'name it', subagent_type: 'plan', fork: true };
      model.enqueue({ text: 'Plums.' });
      await prompt('Which fruit?');
      await until('prompt.completed');
      model.enqueue({ calls: [{ name: 'Agent', args }] });
      model.enqueue({ text: 'Plums.' });
      model.enqueue({ text: 'Plums.' });
      await prompt('Ask somebody who knows');
      await until('prompt.completed', 3);
    });
  },
  ['context.spliced'],
);

const loading = {
  config: { experimental: { 'tool-select': true } },
  modelRecord: { capabilities: ['tool_use', 'dynamically_loaded_tools'] },
};

scenarios(
  'tools that are loaded',
  loading,
  (add) => {
    add('tool-selection', async ({ world, model, prompt, until }) => {
      await mcpTalks(world).configure({ free: hostile() });
      const loads = { name: 'select_tools', args: { names: ['mcp__free__echo'] } };
      model.enqueue({ calls: [loads] });
      model.enqueue({ text: 'It is there.' });
      await prompt('Load echo', { permission_mode: 'yolo' });
      // The server's process starts with the turn.
      await until('tool.list.updated');
      await until('prompt.completed');
    });
  },
  ['context.spliced'],
);

scenarios(
  'a side conversation',
  {},
  (add) => {
    add('side-conversation', async ({ model, prompt, post, until, recorder }) => {
      model.enqueue({ text: 'Noted.' });
      await prompt('Remember plums');
      await until('prompt.completed');
      await recorder.act('POST :btw', () => post(':btw'));
      model.enqueue({ text: ['Plu', 'ms.'] });
      await recorder.act('prompt to agent-1', () => prompt('What?', { agent_id: 'agent-1' }));
      await until('prompt.completed', 2);
    });
  },
  ['context.spliced'],
);

const fills = { input: 90_000, output: 10 };
const tooLong = { status: 400, error: 'This model has a maximum context length of 100000 tokens.' };
const summarized = { text: ['## Task\n', 'Say hello.'], usage: { input: 95_000, output: 20 } };

scenarios(
  'a compaction',
  { modelRecord: { max_context_size: 100_000 } },
  (add) => {
    async function spoken({ model, prompt, until }: Stage, usage = { input: 900, output: 10 }): Promise<void> {
      model.enqueue({ text: 'Hello.', usage });
      await prompt('Say hello');
      await until('prompt.completed');
    }

    add(
      'compaction',
      async (stage) => {
        await spoken(stage);
        stage.model.enqueue(summarized);
        const body = { instruction: ' Keep the greeting. ' };
        await stage.recorder.act('POST :compact', () => stage.post(':compact', body));
        await stage.until('compaction.completed');
      },
      { facts: true },
    );

    add('compaction-with-a-queued-prompt', async (stage) => {
      const { model, prompt, post, until, recorder } = stage;
      await spoken(stage);
      const held = model.enqueue({ ...summarized, hold: true });
      model.enqueue({ text: 'Again.' });
      await recorder.act('POST :compact', () => post(':compact'));
      await held.sent;
      await recorder.act('second prompt', () => prompt('Say it again'));
      await recorder.act('the model goes on', async () => held.release());
      await until('prompt.completed', 2);
    });

    add('compaction-failed', async (stage) => {
      const { model, post, until, recorder } = stage;
      await spoken(stage);
      model.enqueue({ status: 400, error: 'bad thing' });
      await recorder.act('POST :compact', () => post(':compact'));
      await until('error');
    });

    add('compaction-aborted', async (stage) => {
      const { model, post, until, recorder } = stage;
      await spoken(stage);
      model.enqueue({ hang: true });
      await recorder.act('POST :compact', () => post(':compact'));
      await model.waitForRequest(model.requests.length + 1);
      await recorder.act('POST :abort', () => post(':abort'));
      await until('compaction.cancelled');
    });

    add('compaction-before-a-turn', async (stage) => {
      const { model, prompt, until, recorder } = stage;
      await spoken(stage, fills);
      for (const script of [summarized, { text: 'Again.' }]) model.enqueue(script);
      await recorder.act('second prompt', () => prompt('Say it again'));
      await until('prompt.completed', 2);
    });

    add('compaction-between-steps', async ({ model, prompt, until }) => {
      for (const script of [{ calls: [reads], usage: fills }, summarized, { text: 'It says hello.' }])
        model.enqueue(script);
      await prompt('Read a.txt');
      await until('prompt.completed');
    });

    add('compaction-fails-a-turn', async (stage) => {
      const { model, prompt, until, recorder } = stage;
      await spoken(stage, fills);
      model.enqueue({ status: 400, error: 'bad thing' });
      await recorder.act('second prompt', () => prompt('Say it again'));
      await until('prompt.completed', 2);
    });
  },
  ['context.spliced'],
);

scenarios('a request that is too long', { modelRecord: { max_context_size: 100_000 } }, (add) => {
  add('overflow', async ({ model, prompt, until }) => {
    for (const script of [tooLong, summarized, { text: 'Hello.' }]) model.enqueue(script);
    await prompt('Say hello');
    await until('prompt.completed');
  });

  add('overflow-three-times', async ({ model, prompt, until }) => {
    for (const script of [tooLong, summarized, tooLong, summarized, tooLong]) model.enqueue(script);
    await prompt('Say hello');
    await until('prompt.completed');
  });

  add('overflow-that-cannot-be-compacted', async ({ model, prompt, until }) => {
    for (const script of [tooLong, { status: 400, error: 'bad thing' }]) model.enqueue(script);
    await prompt('Say hello');
    await until('prompt.completed');
  });

  add('abort-after-an-overflow', async ({ model, prompt, post, until, recorder }) => {
    for (const script of [tooLong, { hang: true as const }]) model.enqueue(script);
    const before = model.requests.length;
    await prompt('Say hello');
    await model.waitForRequest(before + 2);
    await recorder.act('POST :abort', () => post(':abort'));
    await until('prompt.aborted');
  });
});

scenarios(
  'a plan',
  {},
  (add) => {
    const exits = { name: 'ExitPlanMode', args: { options: [{ label: 'Fast' }, { label: 'Thorough' }] } };

    /** Lets the model enter plan mode and writes its plan to the file. */
    async function planned({ model, prompt, until }: Stage): Promise<void> {
      model.enqueue({ calls: [{ name: 'EnterPlanMode', args: {} }] });
      model.enqueue({ text: 'I will plan.' });
      await prompt('Plan it');
      const { payload } = await until('tool.result');
      const [, path = ''] = / to (.+)\.$/.exec(String(payload.output)) ?? [];
      await until('prompt.completed');
      await writeFile(path, '# Plan\n1. Look\n');
    }

    const answers = [
      ['plan-approved', { decision: 'approved', selected_label: 'Fast' }],
      ['plan-revised', { decision: 'rejected', selected_label: 'Revise', feedback: 'more tests' }],
      ['plan-rejected', { decision: 'rejected' }],
      ['plan-rejected-and-left', { decision: 'rejected', selected_label: 'Reject and Exit' }],
      ['plan-dismissed', { decision: 'cancelled' }],
    ] as const;
    for (const [name, answer] of answers) {
      add(
        name,
        async (stage) => {
          const { model, prompt, decide, until, recorder } = stage;
          await planned(stage);
          model.enqueue({ calls: [exits] });
          if (!name.startsWith('plan-rejected')) model.enqueue({ text: 'Going on.' });
          await recorder.act('second prompt', () => prompt('Show it'));
          await until('event.approval.requested');
          await recorder.act(`POST approvals/{id} ${JSON.stringify(answer)}`, () => decide(answer));
          await until('prompt.completed', 2);
        },
        { facts: true },
      );
    }

    add(
      'plan-in-auto-mode',
      async (stage) => {
        const { model, prompt, until, recorder } = stage;
        await planned(stage);
        model.enqueue({ calls: [exits] });
        model.enqueue({ text: 'Going on.' });
        await recorder.act('second prompt', () => prompt('Show it', { permission_mode: 'auto' }));
        await until('prompt.completed', 2);
      },
      { facts: true },
    );

    add('abort-during-a-plan-review', async (stage) => {
      const { model, prompt, post, until, recorder } = stage;
      await planned(stage);
      model.enqueue({ calls: [exits] });
      await recorder.act('second prompt', () => prompt('Show it'));
      await until('event.approval.requested');
      await recorder.act('POST :abort', () => post(':abort'));
      await until('prompt.aborted');
    });
  },
  ['context.spliced'],
);

describe('the web', () => {
  let host: WebHost;
  /** The port differs in each run. */
  const masks: Record<string, string> = {};
  beforeAll(async () => {
    host = await startWebHost();
    masks[`:${host.port}`] = '';
  });
  afterAll(() => host.close());
  const env = () => ({ ...process.env, SERVICE_WEB_SEARCH_BASE_URL: `http://127.0.0.1:${host.port}/search` });

  scenarios('in a session', { network: testNetwork, env }, (add) => {
    const fetches = (path: string) => ({ name: 'FetchURL', args: { url: `http://site.test:${host.port}${path}` } });

    add(
      'fetch-and-search',
      async ({ model, prompt, until }) => {
        const found = { title: 'Wheels', url: 'https://a.example/', snippet: 'They turn.' };
        host.on('/search', sends(JSON.stringify({ search_results: [found] })));
        host.on('/plain', sends('They turn.', { 'content-type': 'text/plain' }));
        model.enqueue({ calls: [{ name: 'WebSearch', args: { query: 'wheels' } }] });
        model.enqueue({ calls: [fetches('/plain')] });
        model.enqueue({ text: 'They turn.' });
        await prompt('What do wheels do?');
        await until('prompt.completed');
      },
      { masks },
    );

    add(
      'abort-during-a-fetch',
      async ({ model, prompt, post, until, recorder }) => {
        const asked = new Promise<void>((resolve) => host.on('/held', () => resolve()));
        model.enqueue({ calls: [fetches('/held')] });
        await prompt('Look it up');
        await asked;
        await recorder.act('POST :abort', () => post(':abort'));
        await until('prompt.aborted');
      },
      { masks },
    );
  });
});

scenarios(
  'a task',
  { config: { default_permission_mode: 'yolo' } },
  (add) => {
    /** A command that runs until the test releases it; its file has the same name in every run. */
    const bash = (more: object) => ({
      name: 'Bash',
      args: { command: 'printf one; until test -e gate; do sleep 0.01; done; rm gate; printf two', ...more },
    });
    const aside = bash({ description: 'Build it', run_in_background: true });
    const letEnd = ({ world }: Stage) => writeFile(join(world.project, 'gate'), '');
    const taskOf = async (world: World, id: string) => {
      const data = await world.ok('GET', `/sessions/${id}/tasks?status=running`);
      return z.object({ items: z.tuple([z.object({ id: z.string() })]) }).parse(data).items[0].id;
    };

    add('task', async (stage) => {
      const { model, prompt, until, recorder } = stage;
      model.enqueue({ calls: [aside] });
      model.enqueue({ text: 'It builds.' });
      await prompt('Build');
      await until('prompt.completed');
      model.enqueue({ text: 'It is built.' });
      await recorder.act('the command may end', () => letEnd(stage));
      await until('turn.ended', 2);
    });

    add('task-ends-during-a-turn', async (stage) => {
      const { model, prompt, until, recorder } = stage;
      model.enqueue({ calls: [aside] });
      const answer = model.enqueue({ text: 'It builds.', hold: true });
      model.enqueue({ text: 'It is built.' });
      await prompt('Build');
      await until('assistant.delta');
      await recorder.act('the command may end', () => letEnd(stage));
      await until('task.terminated');
      await recorder.act('the model goes on', async () => answer.release());
      await until('prompt.completed');
    });

    add('task-cancelled', async ({ world, session, model, prompt, post, until, recorder }) => {
      model.enqueue({ calls: [aside] });
      model.enqueue({ text: 'It builds.' });
      await prompt('Build');
      await until('prompt.completed');
      model.enqueue({ text: 'It was stopped.' });
      const id = await taskOf(world, session.id);
      await recorder.act('POST tasks/{id}:cancel', () => post(`/tasks/${id}:cancel`));
      await until('turn.ended', 2);
    });

    add('task-detached', async (stage) => {
      const { world, session, model, prompt, post, until, recorder } = stage;
      model.enqueue({ calls: [bash({})] });
      model.enqueue({ text: 'It builds.' });
      await prompt('Build');
      await until('tool.progress');
      const id = await taskOf(world, session.id);
      await recorder.act('POST tasks/{id}:detach', () => post(`/tasks/${id}:detach`));
      await until('prompt.completed');
      model.enqueue({ text: 'It is built.' });
      await recorder.act('the command may end', () => letEnd(stage));
      await until('turn.ended', 2);
    });

    add('task-cancelled-while-waited-for', async ({ world, session, model, prompt, post, until, recorder }) => {
      model.enqueue({ calls: [bash({})] });
      model.enqueue({ text: 'It was stopped.' });
      await prompt('Build');
      await until('tool.progress');
      const id = await taskOf(world, session.id);
      await recorder.act('POST tasks/{id}:cancel', () => post(`/tasks/${id}:cancel`));
      await until('prompt.completed');
    });

    add('question-in-the-background', async ({ model, prompt, post, until, recorder }) => {
      const options = [{ label: 'A' }, { label: 'B' }];
      const args = { questions: [{ question: 'Which?', options }], background: true };
      model.enqueue({ calls: [{ name: 'AskUserQuestion', args }] });
      model.enqueue({ text: 'I asked.' });
      await prompt('Ask me');
      await until('prompt.completed');
      const { payload } = await until('event.question.requested');
      model.enqueue({ text: 'A it is.' });
      const answer = { answers: { q_0: { kind: 'single', option_id: 'opt_0_0' } } };
      await recorder.act('POST questions/{id}', () => post(`/questions/${String(payload.question_id)}`, answer));
      await until('turn.ended', 2);
    });
  },
  ['context.spliced'],
);

scenarios(
  'an abort',
  {},
  (add) => {
    add('abort-while-streaming', async ({ model, session, client, prompt, until, recorder }) => {
      model.enqueue({ thinking: 'Hm.', text: ['Half of', ' it'], hold: true });
      const id = await prompt('Tell me');
      await until('assistant.delta', 2);
      await recorder.act('frame abort', () =>
        client.send({ type: 'abort', id: 'a', payload: { session_id: session.id, prompt_id: id } }),
      );
      await until('prompt.aborted');
    });

    add('abort-with-a-queued-prompt', async ({ model, prompt, post, until, recorder }) => {
      const held = model.enqueue({ text: 'One', hold: true });
      await prompt('First');
      await held.sent;
      model.enqueue({ text: 'Two.' });
      await prompt('Second');
      await recorder.act('POST :abort', () => post(':abort'));
      await until('prompt.completed');
    });

    add('abort-during-a-call', async ({ world, model, prompt, post, until, recorder }) => {
      const command = 'printf half; touch started; exec sleep 30';
      model.enqueue({ calls: [{ name: 'Bash', args: { command } }] });
      const id = await prompt('Wait', { permission_mode: 'yolo' });
      await until('tool.progress');
      await expect.poll(() => existsSync(join(world.project, 'started'))).toBe(true);
      await recorder.act('POST prompts/{id}:abort', () => post(`/prompts/${id}:abort`));
      await until('prompt.aborted');
    });

    add('abort-during-an-approval', async ({ model, prompt, post, until, recorder }) => {
      model.enqueue({ calls: [reads, asked, { name: 'Glob', args: { pattern: '*' } }] });
      await prompt('Read, then ask');
      await until('event.approval.requested');
      await recorder.act('POST :abort', () => post(':abort'));
      await until('prompt.aborted');
    });

    add('abort-during-a-retry', async ({ model, prompt, post, until, recorder }) => {
      model.enqueue({ status: 503, error: 'busy', headers: { 'retry-after': '60' } });
      await prompt('Try');
      await until('turn.step.retrying');
      await recorder.act('POST :abort', () => post(':abort'));
      await until('prompt.aborted');
    });
  },
  ['turn.ended', 'tool.result'],
);

scenarios(
  'a model error',
  { config: { loop_control: { max_attempts_per_step: 2 } } },
  (add) => {
    add('error-not-retryable', async ({ model, prompt, until }) => {
      model.enqueue({ status: 400, error: 'bad thing' });
      await prompt('Try');
      await until('prompt.completed');
    });

    add('error-retried', async ({ model, prompt, until }) => {
      model.enqueue({ status: 500, error: 'oops' });
      model.enqueue({ text: 'Now it works.' });
      await prompt('Try');
      await until('prompt.completed');
    });

    add('error-retries-exhausted', async ({ model, prompt, until }) => {
      model.enqueue({ status: 500, error: 'oops' });
      model.enqueue({ status: 500, error: 'oops again' });
      await prompt('Try');
      await until('prompt.completed');
    });

    add('error-broken-stream', async ({ model, prompt, until }) => {
      model.enqueue({ text: 'Half', breakOff: true });
      model.enqueue({ text: 'Whole.' });
      await prompt('Try');
      await until('prompt.completed');
    });

    add('error-filtered', async ({ model, prompt, until }) => {
      model.enqueue({ text: 'I will not', finish: 'content_filter' });
      await prompt('Try');
      await until('prompt.completed');
    });
  },
  ['turn.ended'],
);

scenarios('the step limit', { config: { loop_control: { max_steps_per_turn: 1 } } }, (add) => {
  add('step-limit', async ({ model, prompt, until }) => {
    model.enqueue({ calls: [reads] });
    await prompt('Read');
    await until('prompt.completed');
  });

  add('step-limit-after-a-retry', async ({ model, prompt, until }) => {
    model.enqueue({ status: 500, error: 'oops' });
    await prompt('Try');
    await until('prompt.completed');
  });
});

scenarios('changes', { modelRecord: { aliases: ['spare'] } }, (add) => {
  add('rename', async ({ post, until }) => {
    await post('/profile', { title: 'My title' });
    await until('session.meta.updated');
  });

  add(
    'mode-and-model-changes',
    async ({ model, prompt, post, until, recorder }) => {
      model.enqueue({ text: 'Hello.' });
      await prompt('Hello');
      await until('prompt.completed');
      for (const change of [
        { permission_mode: 'auto' },
        { thinking: 'off' },
        { model: 'spare' },
        { plan_mode: true },
        { plan_mode: true },
        { plan_mode: false },
      ]) {
        await recorder.act(`POST profile ${JSON.stringify(change)}`, () => post('/profile', { agent_config: change }));
      }
      await recorder.act('POST profile metadata', () => post('/profile', { metadata: { color: 'red' } }));
    },
    { facts: true },
  );

  add('archive-with-a-running-turn', async ({ model, prompt, post, until, recorder }) => {
    const held = model.enqueue({ text: 'Half', hold: true });
    await prompt('Tell me');
    await held.sent;
    await until('assistant.delta');
    await prompt('And then');
    await recorder.act('POST :archive', () => post(':archive'));
    await until('event.session.archived');
    await recorder.act('POST :restore', () => post(':restore'));
    model.enqueue({ text: 'Back.' });
    await recorder.act('prompt', () => prompt('Are you back?'));
    await until('prompt.completed');
  });

  add('archive-idle', async ({ model, prompt, post, until, recorder }) => {
    model.enqueue({ text: 'Hello.' });
    await prompt('Hello');
    await until('prompt.completed');
    await recorder.act('POST :archive', () => post(':archive'));
    await until('event.session.archived');
    await recorder.act('POST :archive again', () => post(':archive'));
  });
});

describe('sessions of the home', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.close());

  test('are announced, with their workspace, to all clients', async () => {
    const client = await connect(world.server);
    const recorder = recordEvents(client, { masks: { [world.project]: '<project>', [world.server.home]: '<home>' } });
    await recorder.act('POST sessions', () => world.session());
    await recorder.act('POST sessions, the same folder', () => world.session());
    const folder = join(world.project, 'part');
    await mkdir(folder);
    await recorder.act('POST sessions with a title, another folder', () =>
      world.session({ title: 'Mine', metadata: { cwd: folder, client: 'test' } }),
    );
    await expect(await recorder.text()).toMatchFileSnapshot('golden/session-created.txt');
    await client.close();
  });

  test('that are cold are archived without loading them', async () => {
    const { id } = await world.session();
    await world.restart();
    const client = await connect(world.server);
    await client.send({ type: 'subscribe', payload: { session_ids: [id] } });
    const recorder = recordEvents(client);
    await recorder.act('POST :archive', () => world.ok('POST', `/sessions/${id}:archive`));
    await recorder.act('POST :restore', () => world.ok('POST', `/sessions/${id}:restore`));
    await expect(await recorder.text()).toMatchFileSnapshot('golden/archive-cold.txt');
    await client.close();
  });

  test('are resumed by a cursor, or by the snapshot if the cursor is invalid', async () => {
    const { id } = await world.session();
    const before = await connect(world.server);
    await before.send({ type: 'subscribe', payload: { session_ids: [id], cursors: { [id]: { seq: 0 } } } });
    world.model.enqueue({ text: 'One.' });
    await world.prompt(id, 'First');
    await before.waitFor(({ type }) => type === 'prompt.completed');
    const { seq = 0, epoch = '' } = before.durable(id).at(-1) ?? {};
    await before.close();
    const held = world.model.enqueue({ thinking: 'Hm.', text: ['Hello ', 'world.'], hold: true });
    await world.prompt(id, 'Second');
    await held.sent;
    const inFlight = async () => (await world.snapshot(id)).in_flight_turn?.assistant_text;
    await expect.poll(inFlight).toBe('Hello world.');

    const client = await connect(world.server);
    const recorder = recordEvents(client);
    const request = (name: string, type: string, payload: object) =>
      recorder.act(`${type} ${JSON.stringify(payload)}`, () => client.send({ type, id: name, payload }));
    const subscribe = (name: string, cursor: object) =>
      request(name, 'subscribe', { session_ids: [id], cursors: { [id]: cursor } });
    await request('a', 'client_hello', { client_id: 'page' });
    await subscribe('b', { seq, epoch });
    const snapshot = await world.snapshot(id);
    expect(snapshot).toMatchObject({
      as_of_seq: client.durable(id).at(-1)?.seq,
      epoch,
      in_flight_turn: { assistant_text: 'Hello world.', assistant_offset: 0, thinking_text: 'Hm.', running_tools: [] },
    });
    await subscribe('foreign epoch', { seq, epoch: 'ep_other' });
    await subscribe('cursor ahead', { seq: 1000 });
    await recorder.act('the model goes on', async () => held.release());
    await client.waitFor(({ type }) => type === 'prompt.completed');
    await expect(await recorder.text()).toMatchFileSnapshot('golden/reconnect.txt');
    await client.close();
  });
});
