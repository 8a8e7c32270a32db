/** Questions, the todo list, plans and goals: the built page on the built server, with a scripted model. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from '@decimalturn/toml-patch';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { questionSchema } from '#schema/rest/interaction.ts';
import { usePage } from '#support/browser.ts';
import { blankPng } from '#support/images.ts';
import { startModelServer, type ModelServer } from '#support/model-server.ts';
import { answer } from '#support/page-locators.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';

let model: ModelServer;
let server: SpawnedServer;
let root: string;
let page: Page;
let session: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'service-code-page-'));
  model = await startModelServer();
  await writeFile(join(root, 'config.toml'), stringify(model.providerConfig()));
  server = await spawnServer({ home: root });
});
afterEach(async () => {
  await server.close();
  await model.close();
  await rm(root, { recursive: true, force: true });
});
usePage(
  () => server,
  (opened) => ({ page } = opened),
);
beforeEach(async () => {
  const { data } = await server.api('POST', '/sessions', { metadata: { cwd: root } });
  session = z.object({ id: z.string() }).parse(data).id;
  await page.goto(`${server.url}/#/s/${session}`);
  await page.getByRole('textbox', { name: 'Prompt' }).waitFor(visible);
});

const visible = { state: 'visible' } as const;
const hidden = { state: 'hidden' } as const;
const card = () => page.getByRole('group', { name: 'Question' });
const asked = () => page.locator('[data-tool="AskUserQuestion"]');

async function prompt(...calls: { name: string; args: object }[][]) {
  for (const step of calls) model.enqueue({ calls: step });
  model.enqueue({ text: 'All is said.' });
  await page.getByRole('textbox', { name: 'Prompt' }).fill('go');
  await page.keyboard.press('Enter');
}

const ended = async () => {
  await page.getByRole('log').getByText('All is said.').waitFor(visible);
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor(hidden);
};

/** Displays the work of the only turn, which is folded after its end. */
const unfold = () => page.locator('button[data-work][aria-expanded="false"]').click();

/** The answers that the model received. */
function told(): unknown {
  const messages = z
    .array(z.looseObject({ role: z.string(), content: z.unknown().optional() }))
    .parse(model.requests.at(-1)?.body['messages']);
  const { content } = messages.findLast(({ role }) => role === 'tool') ?? {};
  const parts = z.union([z.string(), z.array(z.looseObject({ text: z.string().default('') }))]).parse(content);
  return JSON.parse(typeof parts === 'string' ? parts : parts.map(({ text }) => text).join(''));
}

const store = {
  question: 'Which store?',
  header: 'Storage',
  options: [{ label: 'SQLite', description: 'One file.' }, { label: 'Postgres' }],
};
const scope = {
  question: 'Which parts?',
  options: [{ label: 'Index' }, { label: 'Documents' }, { label: 'Journal' }],
  multi_select: true,
};
const ask = (...questions: object[]) => [{ name: 'AskUserQuestion', args: { questions } }];

async function openQuestion() {
  const { data } = await server.api('GET', `/sessions/${session}/questions?status=pending`);
  const [question] = z.object({ items: z.array(questionSchema) }).parse(data).items;
  if (!question) throw new Error('no question is open');
  return { ...question, path: `/sessions/${session}/questions/${question.question_id}` };
}

it('answers several questions together, and displays the answers', async () => {
  // The whole card is in view: a card that scrolls accepts no answer for a moment.
  await page.setViewportSize({ width: 1280, height: 1100 });
  await prompt(ask(store, scope, { ...store, question: 'Sure?' }));
  await card().waitFor(visible);
  // The question is displayed a single time: its card replaces that of the call.
  expect(await asked().count()).toBe(0);
  await page.getByRole('link', { name: /has a question/ }).waitFor(visible);
  expect(await card().getByRole('button', { name: 'Answer' }).isDisabled()).toBe(true);
  await card()
    .getByRole('group', { name: /Which store/ })
    .getByRole('radio', { name: 'SQLite' })
    .check();
  const parts = card().getByRole('group', { name: /Which parts/ });
  await parts.getByRole('checkbox', { name: 'Journal' }).check();
  await parts.getByRole('checkbox', { name: 'Index' }).check();
  await parts.getByRole('textbox').fill('the docs');
  await card().getByText('1 of 3 will be skipped').waitFor(visible);
  await answer(card(), 'Answer');
  await ended();
  expect(told()).toEqual({ answers: { 'Which store?': 'SQLite', 'Which parts?': 'Index, Journal, the docs' } });
  await asked().getByText('Index, Journal, the docs').waitFor(visible);
  await asked().getByText('No answer').waitFor(visible);
});

it('keeps an open question over a reload, and accepts a free text', async () => {
  await prompt(ask(store));
  await card().waitFor(visible);
  await page.reload();
  await card().getByRole('textbox').fill('a drawer');
  await page.keyboard.press('Enter');
  await card().waitFor(hidden);
  await ended();
  expect(told()).toEqual({ answers: { 'Which store?': 'a drawer' } });
});

it('skips a question, and the agent continues', async () => {
  await prompt(ask(store));
  await card().getByRole('button', { name: 'Skip' }).click();
  await card().waitFor(hidden);
  await ended();
  expect(told()).toMatchObject({ answers: {} });
  expect(await page.getByRole('alert').count()).toBe(0);
});

it('removes the card when another client answers', async () => {
  await prompt(ask(store));
  await card().waitFor(visible);
  const { path, questions } = await openQuestion();
  const [item] = questions;
  await server.api('POST', path, {
    answers: { [item?.id ?? '']: { kind: 'single', option_id: item?.options[1]?.id } },
  });
  await card().waitFor(hidden);
  await ended();
  await asked().getByText('Postgres').waitFor(visible);
});

it('reports that another client was faster', async () => {
  await prompt(ask(store));
  await card().waitFor(visible);
  const { path } = await openQuestion();
  await page.route(`**${path}`, async (route) => {
    await server.api('POST', `${path}:dismiss`);
    await route.continue();
  });
  await card().getByRole('radio', { name: 'SQLite' }).check();
  await card().getByRole('button', { name: 'Answer' }).click();
  await page.getByRole('alert').getByText('your answer was not used').waitFor(visible);
  await card().waitFor(hidden);
  await ended();
  expect(told()).toMatchObject({ answers: {} });
});

it('removes the card when the turn is stopped', async () => {
  await prompt(ask(store));
  await card().waitFor(visible);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await card().waitFor(hidden);
  await page.getByRole('log').getByText('Stopped.').waitFor(visible);
});

it('displays the todo list above the composer until it is finished', async () => {
  const todo = (...statuses: string[]) => [
    {
      name: 'TodoList',
      args: { todos: statuses.map((status, at) => ({ title: `Part ${at + 1}`, status })) },
    },
  ];
  const strip = page.locator('details[aria-label="Todo list"]');
  await prompt(todo('in_progress', 'pending'), todo('done', 'in_progress'));
  await ended();
  await strip.getByText('1 of 2').waitFor(visible);
  await strip.locator('summary').click();
  await strip.getByRole('listitem').filter({ hasText: 'Part 2 (in progress)' }).waitFor(visible);
  await page.reload();
  await strip.getByText('1 of 2').waitFor(visible);
  await unfold();
  expect(await page.locator('[data-tool="TodoList"][data-state="done"]').count()).toBe(2);
  await prompt(todo('done', 'done'));
  await strip.waitFor(hidden);
});

it('switches plan mode, displays a plan and sends the selected answer', async () => {
  const plan = page.getByRole('button', { name: 'Plan', exact: true });
  await plan.click();
  await page.locator('button[aria-pressed="true"]', { hasText: 'Plan' }).waitFor(visible);
  const { data } = await server.api('GET', `/sessions/${session}/status`);
  expect(data).toMatchObject({ plan_mode: true });
  model.enqueue({ text: 'I plan.' });
  await page.getByRole('textbox', { name: 'Prompt' }).fill('plan it');
  await page.keyboard.press('Enter');
  await page.getByRole('log').getByText('I plan.').waitFor(visible);
  const [, path = ''] = /only the plan file: (\S+)/.exec(JSON.stringify(model.requests.at(-1)?.body)) ?? [];
  await writeFile(path.replace(/\\n.*$/, ''), '# Move the store\n\n1. Look\n');

  const review = page.getByRole('group', { name: 'Plan', exact: true });
  const exits = { name: 'ExitPlanMode', args: { options: [{ label: 'Fast' }, { label: 'Thorough' }] } };
  await prompt([exits]);
  await review.getByRole('heading', { name: 'Move the store' }).waitFor(visible);
  expect(await review.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true);
  await review.getByRole('button', { name: 'Revise …' }).click();
  await review.getByRole('textbox').fill('more tests');
  await page.keyboard.press('Enter');
  await review.waitFor(hidden);
  await ended();
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('The user says: more tests');

  model.enqueue({ calls: [exits] });
  model.enqueue({ text: 'Off I go.' });
  await page.getByRole('textbox', { name: 'Prompt' }).fill('again');
  await page.keyboard.press('Enter');
  await review.getByRole('radio', { name: 'Thorough' }).check();
  await answer(review);
  await page.getByRole('log').getByText('Off I go.').waitFor(visible);
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('Selected approach: Thorough');
  await page.locator('button[aria-pressed="false"]', { hasText: 'Plan' }).waitFor(visible);
});

it('switches swarm mode, and displays the members of a swarm', async () => {
  await page.getByRole('button', { name: 'Swarm', exact: true }).click();
  await page.getByRole('button', { name: 'Swarm', exact: true, pressed: true }).waitFor(visible);
  model.answerBy(({ body }) => {
    const item = /"Look at (\w+)"/.exec(JSON.stringify(body['messages']))?.[1];
    if (item === undefined) return undefined;
    return item === 'b' ? { status: 400, error: 'bad thing' } : { text: `${item} is fine.` };
  });
  const args = {
    description: 'look around',
    prompt_template: 'Look at {{item}}',
    items: ['a', 'b', 'c'],
    subagent_type: 'plan',
  };
  await prompt([{ name: 'AgentSwarm', args }]);
  await ended();
  await unfold();
  const swarm = page.locator('[data-tool="AgentSwarm"]');
  await swarm.getByRole('button', { name: 'look around' }).click();
  await swarm.getByText('2 done · 1 failed').waitFor(visible);
  await swarm.getByText('[provider.api_error] 400 bad thing').first().waitFor(visible);
  await swarm.locator('li[data-state="done"]').first().getByRole('button').click();
  await swarm.getByText('a is fine.').waitFor(visible);
  await page.locator('[data-agent]').waitFor(hidden);
});

it('sets a goal, pauses it, and displays it until it is reached', async () => {
  const strip = page.locator('details[aria-label="Goal"]');
  await page.getByRole('button', { name: 'Goal', exact: true }).click();
  await page.getByRole('textbox', { name: 'Objective' }).fill('Ship it');
  await page.keyboard.press('Enter');
  await strip.getByText('Ship it').first().waitFor(visible);
  await strip.getByRole('button', { name: 'Pause' }).click();
  await strip.getByText('Goal paused').waitFor(visible);
  await page.reload();
  await strip.getByText('Goal paused').waitFor(visible);
  model.enqueue({ calls: [{ name: 'UpdateGoal', args: { status: 'complete' } }] });
  model.enqueue({ text: 'All is said.' });
  await strip.getByRole('button', { name: 'Resume' }).click();
  await ended();
  await strip.waitFor(hidden);
});

it('displays an image of a tool result scaled down, also after a reload', async () => {
  await writeFile(join(root, 'wide.png'), blankPng(3000, 400));
  await prompt([{ name: 'ReadMediaFile', args: { path: join(root, 'wide.png') } }]);
  await ended();
  const size = async () => {
    await unfold();
    await page.locator('[data-tool="ReadMediaFile"]').getByRole('img', { name: 'Attached image' }).waitFor(visible);
    return page.evaluate(`(async () => {
      const image = document.querySelector('[data-tool="ReadMediaFile"] img');
      await image.decode();
      return image.naturalWidth + 'x' + image.naturalHeight;
    })()`);
  };
  expect(await size()).toBe('2000x267');
  await page.reload();
  expect(await size()).toBe('2000x267');
});
