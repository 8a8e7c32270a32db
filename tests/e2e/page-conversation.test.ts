/** The conversation on the built page: folding, streaming Markdown, jumps to any turn, menus of prompts, states of calls. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { usePage } from '#support/browser.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { blankPng } from '#support/images.ts';
import type { Script } from '#support/model-server.ts';
import { upload } from '#support/uploads.ts';

const built = useBuiltServer(
  async ({ project }) => {
    await writeFile(join(project, 'notes.txt'), 'one\ntwo of them\nthree\n');
    await writeFile(join(project, 'dot.png'), blankPng(2, 2));
  },
  { per: 'file' },
);
let page: Page;
let session: string;

usePage(
  () => built.server,
  (opened) => ({ page } = opened),
);

const visible = { state: 'visible' } as const;
const hidden = { state: 'hidden' } as const;
const log = () => page.getByRole('log', { name: 'Conversation', exact: true });
const answer = () => log().getByRole('article', { name: 'Agent' }).last();
const field = () => page.getByRole('textbox', { name: 'Prompt' });
const promptOf = (text: string) => log().getByRole('article', { name: 'You' }).filter({ hasText: text });

beforeEach(async () => {
  session = await built.newSession();
  await page.goto(`${built.server.url}/#/s/${session}`);
  await field().waitFor(visible);
});

const idle = () =>
  expect
    .poll(async () => (await built.server.api('GET', `/sessions/${session}`)).data, { interval: 20 })
    .toMatchObject({ busy: false, main_turn_active: false });

async function turn(text: string, ...scripts: Script[]) {
  for (const script of scripts.length ? scripts : [{ text: `Answer to ${text}` }]) built.base.model.enqueue(script);
  await built.prompt(session, text);
  await idle();
}

async function openMenu(prompt: string, item: string) {
  await promptOf(prompt).hover();
  await promptOf(prompt).getByRole('button', { name: 'Actions for this prompt' }).click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}

it('folds the work of a turn into one line, without its changes and failures', async () => {
  const calls = (name: string, args: object): Script => ({ calls: [{ name, args }] });
  await built.ok('POST', `/sessions/${session}/profile`, { agent_config: { permission_mode: 'yolo' } });
  await turn(
    'work',
    { thinking: 'Let me see', calls: [{ name: 'Read', args: { path: 'notes.txt' } }] },
    calls('Grep', { pattern: 'two', output_mode: 'content' }),
    calls('Edit', { path: 'notes.txt', old_string: 'two of them', new_string: 'two or all of them' }),
    calls('Bash', { command: 'true' }),
    calls('Bash', { command: 'exit 3' }),
    { text: 'It is done.' },
  );
  await answer().getByText('It is done.').waitFor(visible);
  const card = (tool: string) => log().locator(`[data-tool="${tool}"]`);
  const line = log().locator('[data-work]');
  await line.getByText(/^.?Worked .+ · 6 steps · 1 file · \+1 −1$/).waitFor(visible);
  expect(await line.getAttribute('title')).toMatch(/Time: .+\nTokens: /);
  await card('Edit').waitFor(visible);
  await card('Edit').locator('.word', { hasText: 'or all' }).waitFor(visible);
  expect(await card('Bash').count()).toBe(1);
  await card('Bash').getByText('exit code 3').waitFor(visible);
  expect(await log().locator('[data-group]').count()).toBe(0);

  await line.click();
  await expect.poll(() => card('Bash').count()).toBe(2);
  const group = log().locator('[data-group]');
  await group.getByText('Thought · Read · Search').waitFor(visible);
  await group.locator('button.head').first().click();
  await card('Grep').getByText('1 hit').waitFor(visible);
  await card('Grep').locator('button.head').click();
  await card('Grep').getByRole('button', { name: 'notes.txt:2' }).click();
  await page.getByRole('region', { name: 'notes.txt' }).waitFor(visible);
});

it('shows a call that a person rejected as rejected', async () => {
  built.base.model.enqueue({ calls: [{ name: 'Bash', args: { command: 'touch made.txt' } }] });
  await built.prompt(session, 'go');
  await page.getByRole('group', { name: /^Approval:/ }).waitFor(visible);
  const data = await built.ok('GET', `/sessions/${session}/approvals?status=pending`);
  const { items } = z.object({ items: z.array(z.object({ approval_id: z.string() })) }).parse(data);
  built.base.model.enqueue({ text: 'I leave it.' });
  await built.ok('POST', `/sessions/${session}/approvals/${items[0]?.approval_id}`, { decision: 'rejected' });
  const card = log().locator('[data-tool="Bash"]');
  await card.getByText('rejected', { exact: true }).waitFor(visible);
  expect(await card.getAttribute('data-state')).toBe('rejected');
  await answer().getByText('I leave it.').waitFor(visible);
  expect(await card.getByText('failed').count()).toBe(0);
});

it('shows a call that a person stopped as cancelled, unlike one that failed', async () => {
  await built.ok('POST', `/sessions/${session}/profile`, { agent_config: { permission_mode: 'yolo' } });
  built.base.model.enqueue({
    calls: [
      { name: 'Bash', args: { command: 'exit 3' } },
      { name: 'Bash', args: { command: 'echo started; sleep 600' } },
    ],
  });
  await built.prompt(session, 'go');
  const card = (command: string) => log().locator('[data-tool="Bash"]').filter({ hasText: command });
  await card('sleep').getByText('started', { exact: true }).waitFor(visible);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await card('sleep').getByText('cancelled', { exact: true }).waitFor(visible);
  expect(await card('sleep').getAttribute('data-state')).toBe('cancelled');
  expect(await card('exit 3').getAttribute('data-state')).toBe('failed');
  await card('exit 3').getByText('exit code 3').waitFor(visible);
});

it('draws growing Markdown block by block, with formulas, images of the project and places in files', async () => {
  const text = [
    '# Head\n\nIt costs $5 and $6, but $x^2$ is ',
    'a formula.\n\n- one\n- two\n',
    '- three\n\n```ts\nconst a = 1;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n',
    '![dot](dot.png) and ![far](https://x.test/a.png) and `notes.txt:2`\n\nlast',
  ];
  const held = built.base.model.enqueue({ text, paceMs: 80, hold: true });
  await built.prompt(session, 'go');
  await answer().getByText('last', { exact: true }).waitFor(visible);
  await expect.poll(() => answer().locator('li').allTextContents()).toEqual(['one', 'two', 'three']);
  await answer().locator('.katex').waitFor(visible);
  await answer().getByText('It costs $5 and $6, but').waitFor(visible);
  expect(await answer().locator('.formula').count()).toBe(1);
  await answer().locator('code .hljs-keyword', { hasText: 'const' }).waitFor(visible);
  await answer().getByRole('link', { name: 'far' }).waitFor(visible);
  // The list is not drawn again when the text after it grows.
  await answer()
    .locator('li')
    .first()
    .evaluate((element) => element.setAttribute('data-kept', ''));
  held.release();
  await idle();
  await answer().getByRole('img', { name: 'dot' }).waitFor(visible);
  expect(await answer().locator('li[data-kept]').count()).toBe(1);

  await answer().getByRole('img', { name: 'dot' }).click();
  await page.getByRole('dialog', { name: 'dot' }).waitFor(visible);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'dot' }).waitFor(hidden);
  await answer().getByRole('button', { name: 'notes.txt:2' }).click();
  await page.getByRole('region', { name: 'notes.txt' }).locator('mark', { hasText: 'two' }).waitFor(visible);
});

it('draws growing Markdown also between the keys of a person who types', async () => {
  const text = Array.from({ length: 60 }, (_, at) => `part ${at + 1}\n\n`);
  built.base.model.enqueue({ text, paceMs: 50 });
  await built.prompt(session, 'go');
  const prompt = page.getByRole('textbox', { name: 'Prompt' });
  await prompt.focus();
  const seen = new Set<number>();
  let typed = '';
  for (; !seen.has(text.length); typed += 'x') {
    await page.keyboard.press('x');
    seen.add(await answer().locator('p').count());
  }
  expect(seen.size).toBeGreaterThan(3);
  await idle();
  expect(await prompt.inputValue()).toBe(typed);
  await prompt.fill('');
});

it('draws growing Markdown also where the code of its worker is missing, and offers to load the page again', async () => {
  await page.route(/markdown-worker/, (route) => route.abort('connectionrefused'));
  const held = built.base.model.enqueue({ text: ['The **first** part', ' and the _second_'], hold: true });
  await built.prompt(session, 'go');
  await answer().locator('strong', { hasText: 'first' }).waitFor(visible);
  await page.getByText('Parts of the page were not loaded').waitFor(visible);
  held.release();
  await idle();
  await answer().locator('em', { hasText: 'second' }).waitFor(visible);
  expect(await answer().locator('strong').count()).toBe(1);

  // The next text needs no reload if the code is there again.
  await page.unroute(/markdown-worker/);
  await turn('again', { text: `${'Many words. '.repeat(4000)}\n\nThe **third** part` });
  await answer().locator('strong', { hasText: 'third' }).waitFor(visible);
});

it('opens a file at the line of its place, also one that is not read at first', async () => {
  const lines = Array.from({ length: 9000 }, (_, at) => `const line${at + 1} = '${'x'.repeat(40)}';`);
  await writeFile(join(built.base.project, 'long.ts'), `${lines.join('\n')}\n`);
  await turn('go', { text: 'See `long.ts:8000` and `long.ts:20`.' });
  await answer().getByRole('button', { name: 'long.ts:8000' }).click();
  const file = page.getByRole('region', { name: 'long.ts' });
  const isShown = (text: string) =>
    expect
      .poll(() =>
        file.locator('mark').evaluate((mark) => {
          const [row, box] = [mark.getBoundingClientRect(), mark.closest('.code-text')?.getBoundingClientRect()];
          return box && row.top >= box.top && row.bottom <= box.bottom ? mark.textContent : '';
        }),
      )
      .toContain(text);
  await isShown('line8000 ');
  await answer().getByRole('button', { name: 'long.ts:20' }).click();
  await isShown('line20 ');
  // The same place again, after the person has scrolled away.
  await file.locator('.code-text').evaluate((box) => (box.scrollTop = 90_000));
  await answer().getByRole('button', { name: 'long.ts:20' }).click();
  await isShown('line20 ');
  await rm(join(built.base.project, 'long.ts'));
});

it('draws formulas inside of their place only', async () => {
  const wide = String.raw`A $\rule{900em}{900em}$ and $\kern-400em x$ and $\raisebox{90em}{x}$ and $\href{javascript:alert(1)}{x}$ end`;
  await turn('go', { text: wide });
  await answer().locator('.katex').first().waitFor(visible);
  const outside = await answer().evaluate((element) => {
    const { left, top, bottom } = element.getBoundingClientRect();
    return [top - 4, bottom + 4].some((y) => {
      const drawn = element.ownerDocument.elementFromPoint(left + 40, y);
      return drawn !== null && element.contains(drawn);
    });
  });
  expect(outside).toBe(false);
  expect(await answer().locator('.katex a').count()).toBe(0);
});

it('folds long code', async () => {
  await turn('go', { text: `\`\`\`\n${'line\n'.repeat(450)}\`\`\`` });
  const height = async () => (await answer().boundingBox())?.height ?? 0;
  await answer().getByRole('button', { name: 'Show all 450 lines' }).waitFor(visible);
  expect(await height()).toBeLessThan(600);
  await answer().getByRole('button', { name: 'Show all 450 lines' }).click();
  await expect.poll(height).toBeGreaterThan(3000);
});

it('takes a prompt back to edit it, after a stop, and states that files stay', async () => {
  await turn('one');
  await turn('two');
  const held = built.base.model.enqueue({ text: ['Half', ' of it'], hold: true });
  await built.prompt(session, 'three');
  await held.sent;
  await openMenu('two', 'Edit and resend');
  const dialog = page.getByRole('dialog', { name: 'Take back this prompt?' });
  await dialog.getByText('Files are not changed back').waitFor(visible);
  await dialog.getByText('It must be stopped first').waitFor(visible);
  await dialog.getByRole('button', { name: 'Stop, then continue' }).click();
  await expect.poll(() => field().inputValue()).toBe('two');
  await promptOf('two').waitFor(hidden);
  await promptOf('one').waitFor(visible);
});

it('takes a prompt back while another one is queued, which is removed from the queue first', async () => {
  await turn('one');
  await turn('two');
  const held = built.base.model.enqueue({ text: ['Half', ' of it'], hold: true });
  built.base.model.enqueue({ text: ['The queued one runs'], hold: true });
  await built.prompt(session, 'three');
  await held.sent;
  await built.prompt(session, 'Prompt four.');
  const queue = page.getByRole('region', { name: 'Queued prompts' });
  await queue.getByText('Prompt four.').waitFor(visible);
  await openMenu('two', 'Edit and resend');
  const dialog = page.getByRole('dialog', { name: 'Take back this prompt?' });
  await dialog.getByText('the queued prompts are removed').waitFor(visible);
  await dialog.getByRole('button', { name: 'Stop, then continue' }).click();
  await expect.poll(() => field().inputValue()).toBe('two');
  await dialog.waitFor(hidden);
  await promptOf('two').waitFor(hidden);
  expect([await queue.count(), await promptOf('Prompt four.').count()]).toEqual([0, 0]);
  await idle();
  expect(JSON.stringify(built.base.model.requests.at(-1)?.body)).not.toContain('Prompt four.');
});

it('does not offer to stop a session that another process holds, and names the process', async () => {
  await turn('one');
  const held = {
    code: 40901,
    msg: 'session s is held by process 42',
    data: null,
    details: { reason: 'lock', pid: 42 },
  };
  await page.route(`**/sessions/${session}:undo`, (route) => route.fulfill({ json: held }));
  await openMenu('one', 'Take back');
  const dialog = page.getByRole('dialog', { name: 'Take back this prompt?' });
  await dialog.getByRole('button', { name: 'Take back' }).click();
  const problem = dialog.getByRole('alert');
  await problem.getByText('Another server has opened this session.').waitFor(visible);
  await problem.getByText('is held by process 42').waitFor(visible);
  expect(await dialog.getByRole('button', { name: 'Stop, then continue' }).count()).toBe(0);
});

it('explains why a prompt cannot be taken back', async () => {
  await turn('one');
  await page.route(`**/sessions/${session}:undo`, (route) =>
    route.fulfill({
      json: {
        code: 40911,
        msg: 'unavailable',
        data: { reason: 'compaction_boundary', requestedCount: 1, undoableCount: 0 },
      },
    }),
  );
  await openMenu('one', 'Take back');
  const dialog = page.getByRole('dialog', { name: 'Take back this prompt?' });
  await dialog.getByRole('button', { name: 'Take back' }).click();
  await dialog.getByRole('alert').getByText('The conversation was compacted after this prompt').waitFor(visible);
});

it('explains that the conversation was compacted while the dialog was open', async () => {
  await turn('one');
  await turn('two');
  await openMenu('one', 'Take back');
  const dialog = page.getByRole('dialog', { name: 'Take back this prompt?' });
  await dialog.waitFor(visible);
  built.base.model.enqueue({ text: 'They said one and two.' });
  await built.ok('POST', `/sessions/${session}:compact`, {});
  await page.getByText('The conversation above was compacted').waitFor({ state: 'attached' });
  await dialog.getByRole('button', { name: 'Take back' }).click();
  await dialog.getByRole('alert').getByText('The conversation was compacted after this prompt').waitFor(visible);
});

it('continues in a copy that ends before the prompt', async () => {
  await turn('one');
  await turn('two');
  await openMenu('two', 'Continue in a copy');
  await page.getByRole('button', { name: 'Open the copy' }).click();
  await expect.poll(() => page.url()).not.toContain(session);
  await expect.poll(() => field().inputValue()).toBe('two');
  await promptOf('one').waitFor(visible);
  expect(await promptOf('two').count()).toBe(0);
});

const attached = () => page.getByRole('list', { name: 'Attachments' }).getByRole('img');

/** A turn whose prompt has an image, and a text unless it is empty. */
async function turnWithImage(text: string) {
  const content = new Uint8Array(blankPng(2, 2));
  const { id } = await upload(built.server, { content, filename: 'dot.png', type: 'image/png' });
  const source = { kind: 'file', file_id: id };
  built.base.model.enqueue({ text: 'I see it.' });
  const words = text ? [{ type: 'text', text }] : [];
  await built.prompt(session, '', { content: [{ type: 'image', source }, ...words] });
  await idle();
  await answer().getByText('I see it.').waitFor(visible);
}

it('returns the images of a prompt to the prompt box with its text', async () => {
  await turn('one');
  await turnWithImage('what is this?');
  await openMenu('what is this?', 'Edit and resend');
  await page.getByRole('dialog').getByRole('button', { name: 'Edit and resend' }).click();
  await attached().waitFor(visible);
  expect(await field().inputValue()).toBe('what is this?');
  built.base.model.enqueue({ text: 'I see it again.' });
  await field().press('Enter');
  await answer().getByText('I see it again.').waitFor(visible);
  await promptOf('what is this?').getByRole('img').waitFor(visible);
  expect(await attached().count()).toBe(0);
});

it('continues in a copy before a prompt that is an image only, which is in the prompt box of the copy', async () => {
  await turn('one');
  await turnWithImage('');
  const image = log().getByRole('article', { name: 'You' }).last();
  await image.hover();
  await image.getByRole('button', { name: 'Actions for this prompt' }).click();
  await page.getByRole('menuitem', { name: 'Continue in a copy', exact: true }).click();
  await page.getByRole('button', { name: 'Open the copy' }).click();
  await expect.poll(() => page.url()).not.toContain(session);
  await attached().waitFor(visible);
});

it('reports that the images of a prompt are gone, and takes its text back', async () => {
  await turn('one');
  await turnWithImage('what is this?');
  const gone = { status: 200, json: { code: 40407, msg: 'file not found', data: null } };
  await page.route(`**/sessions/${session}/media/*`, (route) => route.fulfill(gone));
  await openMenu('what is this?', 'Edit and resend');
  await page.getByRole('dialog').getByRole('button', { name: 'Edit and resend' }).click();
  await page.getByText('attach them again').waitFor(visible);
  expect(await field().inputValue()).toBe('what is this?');
  expect(await attached().count()).toBe(0);
});

async function openSessionMenu(item: string) {
  await page.getByRole('button', { name: 'Session menu' }).click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}

it('copies the text of a prompt', async () => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await turn('one');
  await openMenu('one', 'Copy text');
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe('one');
});

it('keeps the dialog of a prompt whose row the growing conversation has moved out of view', async () => {
  await turn('one', { text: 'line\n\n'.repeat(40) });
  const held = built.base.model.enqueue({ text: Array.from({ length: 200 }, () => 'more\n\n'), paceMs: 5, hold: true });
  await openMenu('one', 'Take back');
  const dialog = page.getByRole('dialog', { name: 'Take back this prompt?' });
  await dialog.waitFor(visible);
  await built.prompt(session, 'two');
  await held.sent;
  await promptOf('one').waitFor({ state: 'detached' });
  await dialog.getByText('It must be stopped first').waitFor(visible);
  // A prompt that was sent meanwhile is taken back too.
  await dialog.getByRole('button', { name: 'Stop, then continue' }).click();
  await dialog.waitFor(hidden);
  await log().getByText('Prompts were taken back.').waitFor(visible);
  expect(await promptOf('one').count()).toBe(0);
});

it('starts a child session from the menu, after a stop', async () => {
  await turn('one');
  const held = built.base.model.enqueue({ text: ['Half', ' of it'], hold: true });
  await built.prompt(session, 'two');
  await held.sent;
  await openSessionMenu('New child session');
  const dialog = page.getByRole('dialog', { name: 'Start a child session?' });
  await dialog.getByText('files are not copied').waitFor(visible);
  await dialog.getByText('It must be stopped first').waitFor(visible);
  await dialog.getByRole('button', { name: 'Stop, then continue' }).click();
  await expect.poll(() => page.url()).not.toContain(session);
  await log().getByText('Answer to one').waitFor(visible);
  const data = await built.ok('GET', `/sessions/${session}/children`);
  const { items } = z.object({ items: z.array(z.object({ id: z.string() })) }).parse(data);
  expect(page.url()).toContain(items[0]?.id ?? 'a child');
});

it('offers a stop where the server reports a running agent', async () => {
  await turn('one');
  let refusals = 1;
  await page.route(`**/sessions/${session}:fork`, (route) =>
    (refusals -= 1) < 0 ? route.continue() : route.fulfill({ json: { code: 40901, msg: 'a subagent is running' } }),
  );
  await openSessionMenu('Continue in a copy');
  await page.getByRole('button', { name: 'Open the copy' }).click();
  await page.getByRole('dialog').getByText('a subagent is running').waitFor(visible);
  await page.getByRole('dialog').getByRole('button', { name: 'Stop, then continue' }).click();
  await expect.poll(() => page.url()).not.toContain(session);
});

it('compacts with an instruction from the menu, and explains why it cannot', async () => {
  await openSessionMenu('Compact the conversation …');
  const dialog = page.getByRole('dialog', { name: 'Compact the conversation?' });
  await dialog.getByRole('button', { name: 'Compact the conversation' }).click();
  await dialog.getByRole('alert').getByText('The conversation cannot be compacted.').waitFor(visible);
  await page.keyboard.press('Escape');
  await turn('one');
  await turn('two');
  built.base.model.enqueue({ text: 'They said one and two.' });
  await openSessionMenu('Compact the conversation …');
  await dialog.getByRole('textbox').fill('the numbers');
  await page.keyboard.press('Enter');
  await dialog.waitFor(hidden);
  await log().getByText('The conversation above was compacted').waitFor(visible);
  expect(JSON.stringify(built.base.model.requests.at(-1)?.body['messages'])).toContain('the numbers');
});

it('exports the session as an archive', async () => {
  await turn('one');
  const download = page.waitForEvent('download');
  await openSessionMenu('Export as a zip archive');
  const file = await download;
  expect(file.suggestedFilename()).toBe(`service-session-${session}.zip`);
  const bytes = await readFile(await file.path());
  expect(bytes.subarray(0, 2).toString()).toBe('PK');
  expect(bytes.includes('manifest.json')).toBe(true);
});

it('lists the warnings of the session and of the configuration, with the paths of their files', async () => {
  const skill = join(built.base.project, '.service-code/skills/broken/SKILL.md');
  await mkdir(dirname(skill), { recursive: true });
  await writeFile(skill, '---\nname: [\n---\n');
  await turn('one');
  const lines = page.getByRole('list', { name: 'Warnings' });
  await lines.getByText(skill).waitFor(visible);
  const config = join(built.base.home, 'config.toml');
  const before = await readFile(config, 'utf8');
  await writeFile(config, `${before}\n[loop_control]\nmax_steps_per_turn = "many"\n`);
  const ofConfig = lines.getByRole('listitem').filter({ hasText: 'loop_control' });
  await ofConfig.waitFor(visible);
  await ofConfig.getByRole('button', { name: 'Dismiss this warning' }).click();
  await ofConfig.waitFor(hidden);
  await lines.getByRole('button', { name: 'Dismiss this warning' }).click();
  await lines.waitFor(hidden);
  await writeFile(config, before);
  // They stay dismissed.
  await page.reload();
  await log().getByText('Answer to one').waitFor(visible);
  const read = page.waitForResponse(/\/warnings$/);
  await turn('two');
  await read;
  await log().getByText('Answer to two').waitFor(visible);
  expect(await lines.count()).toBe(0);
  await rm(dirname(skill), { recursive: true });
});

/** A conversation of 120 turns, of which the page has loaded the newest. */
async function longConversation() {
  for (let number = 1; number <= 120; number += 1)
    await turn(`Prompt ${number}.`, { text: `Reply ${number}, word${number}.` });
  await page.reload();
  await log().getByText('Reply 120,').waitFor(visible);
}

async function jumpToFifth() {
  await page.getByRole('button', { name: 'Outline of the prompts' }).click();
  const outline = page.getByRole('dialog', { name: 'Outline of the prompts' });
  await outline.getByRole('searchbox').fill('Prompt 5.');
  await outline.getByRole('button', { name: /Prompt 5\./ }).click();
  await log().getByText('Reply 5,').waitFor(visible);
}

it('jumps to any turn without the turns between, from outline and find, and back to the newest', async () => {
  await longConversation();
  const reads: string[] = [];
  page.on('request', (request) => {
    if (/\/transcript\?/.test(request.url())) reads.push(request.url());
  });
  await jumpToFifth();
  // The window does not reach the loaded turns, also after it was read ahead.
  expect(reads.filter((url) => url.includes('before_turn'))).toHaveLength(1);
  expect(await log().getByText('Reply 120,').count()).toBe(0);

  await page.getByRole('button', { name: 'To the newest' }).click();
  await log().getByText('Reply 120,').waitFor(visible);

  await page.getByRole('button', { name: 'Find in this conversation' }).click();
  await page.getByRole('searchbox', { name: 'Find in this conversation' }).fill('word7');
  await log().getByText('Reply 7,').waitFor(visible);
  await page.getByText('1 of 1').waitFor(visible);
  await page.keyboard.press('Escape');

  // Reading on reaches the loaded turns.
  for (let wheels = 0; wheels < 400 && (await log().getByText('Reply 120,').count()) === 0; wheels += 1) {
    await log().evaluate((element) => (element.scrollTop += 2000));
    await page.waitForTimeout(20);
  }
  await log().getByText('Reply 120,').waitFor(visible);
  expect(await page.getByRole('button', { name: 'To the newest' }).count()).toBe(0);
});

it('changes the conversation at a prompt that a jump has displayed, far from the loaded turns', async () => {
  // They are so high that the window of the jump does not reach the loaded turns.
  const lines = 'line\n\n'.repeat(20);
  for (let number = 0; number < 90; number += 1)
    await turn(`Prompt ${number}.`, { text: `${lines}Answer to Prompt ${number}.` });
  const source = session;
  async function jump(prompt: string) {
    await page.goto(`${built.server.url}/#/s/${source}`);
    await page.reload();
    await log().getByText('Answer to Prompt 89.').waitFor(visible);
    await page.getByRole('button', { name: 'Outline of the prompts' }).click();
    const outline = page.getByRole('dialog', { name: 'Outline of the prompts' });
    await outline.getByRole('searchbox').fill(prompt);
    await outline.getByRole('button', { name: prompt }).click();
    await promptOf(prompt).waitFor(visible);
    await page.getByRole('button', { name: 'To the newest', exact: true }).waitFor(visible);
  }
  await jump('Prompt 5.');
  await openMenu('Prompt 5.', 'Continue in a copy');
  await page.getByRole('button', { name: 'Open the copy' }).click();
  await expect.poll(() => page.url()).not.toContain(source);
  await expect.poll(() => field().inputValue()).toBe('Prompt 5.');
  await log().getByText('Answer to Prompt 4.').waitFor(visible);
  expect(await promptOf('Prompt 5.').count()).toBe(0);

  await jump('Prompt 5.');
  await openMenu('Prompt 5.', 'Edit and resend');
  await page.getByRole('dialog').getByRole('button', { name: 'Edit and resend' }).click();
  await log().getByText('Prompts were taken back.').waitFor(visible);
  expect(await field().inputValue()).toBe('Prompt 5.');
  await log().getByText('Answer to Prompt 4.').waitFor(visible);
  expect(await promptOf('Prompt 5.').count()).toBe(0);
});

it('leads from the turn of a jump to the card of a request, from the activity and from the list of sessions', async () => {
  await longConversation();
  await jumpToFifth();
  built.base.model.enqueue({ calls: [{ name: 'Bash', args: { command: 'touch made.txt' } }] });
  await built.prompt(session, 'go');
  const card = page.getByRole('group', { name: /^Approval:/ });
  const approve = card.getByRole('button', { name: 'Approve', exact: true });
  const isReady = () => expect.poll(() => approve.isEnabled()).toBe(true);
  const toNewest = page.getByRole('button', { name: 'To the newest' });
  await toNewest.waitFor(visible);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await isReady();
  await toNewest.waitFor(hidden);

  await jumpToFifth();
  await toNewest.waitFor(visible);
  const needs = page.getByRole('region', { name: 'Needs you' });
  await needs.locator(`a[href="#/s/${session}"]`).click();
  await isReady();
  expect(await card.count()).toBe(1);
  expect(await toNewest.count()).toBe(0);
  built.base.model.enqueue({ text: 'It was touched.' });
  await page.keyboard.press('Alt+y');
  await log().getByText('It was touched.').waitFor(visible);
});

it('explains in the find bar why a query is refused', async () => {
  await page.getByRole('button', { name: 'Find in this conversation' }).click();
  const field = page.getByRole('searchbox', { name: 'Find in this conversation' });
  const bar = page.getByRole('search').filter({ has: field });
  await field.fill(Array.from({ length: 40 }, (_, number) => `w${number}`).join(' '));
  const problem = bar.getByRole('alert');
  await problem.getByText('The server does not accept these values.').waitFor(visible);
  await problem.getByText('too many terms').waitFor(visible);
  expect(await bar.getByText('Error').count()).toBe(0);
  await field.fill('nothing like it');
  await problem.waitFor(hidden);
  await bar.getByRole('status').getByText('Nothing found').waitFor(visible);
});

it('counts the messages below while the user reads above', async () => {
  for (let number = 1; number <= 12; number += 1) await turn(`Prompt ${number}.`);
  await log().getByText('Answer to Prompt 12.').waitFor(visible);
  await log().hover();
  await page.mouse.wheel(0, -2000);
  await page.getByRole('button', { name: 'Go to the newest message' }).waitFor(visible);
  await turn('another');
  const below = page.getByRole('button', { name: /^\d new messages$/ });
  await below.waitFor(visible);

  // Also those that arrive while another session is displayed.
  const shown = await below.textContent();
  await page.goto(`${built.server.url}/#/s/${await built.newSession()}`);
  await below.waitFor(hidden);
  await turn('one more');
  await page.goto(`${built.server.url}/#/s/${session}`);
  await below.waitFor(visible);
  expect(Number.parseInt((await below.textContent()) ?? '')).toBeGreaterThan(Number.parseInt(shown ?? ''));
  await below.click();
  await log().getByText('Answer to one more').waitFor(visible);
});

it('stays where the focus has moved if the conversation grows before the scroll event', async () => {
  await built.ok('POST', `/sessions/${session}/profile`, { agent_config: { permission_mode: 'yolo' } });
  for (const number of [1, 2]) {
    await turn(
      `work ${number}`,
      { calls: [{ name: 'Bash', args: { command: 'true' } }] },
      { text: 'line\n\n'.repeat(20) },
    );
  }
  const work = log().locator('button[data-work]');
  await expect.poll(() => work.count()).toBe(2);
  // In one task: no frame is drawn in between.
  await work.first().evaluate((element) => {
    element.focus();
    element.click();
  });
  await page.getByRole('button', { name: 'Go to the newest message' }).waitFor(visible);
  await expect.poll(() => work.first().evaluate((element) => element.getBoundingClientRect().top)).toBeGreaterThan(0);
});

it('moves between turns by j and k while the conversation has the focus, and keeps it when the row is scrolled away', async () => {
  const lines = Array.from({ length: 12 }, (_, at) => `line ${at}`).join('\n\n');
  for (let number = 1; number <= 12; number += 1)
    await turn(`Prompt ${number}.`, { text: `${lines}\n\nend ${number}` });
  await log().getByText('end 12', { exact: true }).waitFor(visible);
  const focused = (prompt: string) =>
    expect
      .poll(
        () =>
          log()
            .locator('[data-key]:focus')
            .textContent({ timeout: 1000 })
            .catch(() => ''),
        { interval: 20 },
      )
      .toContain(prompt);
  await log().focus();
  await page.keyboard.press('k');
  await focused('Prompt 12.');
  // Two presses before the first one has scrolled.
  await page.keyboard.press('k');
  await page.keyboard.press('k');
  await focused('Prompt 10.');
  await promptOf('Prompt 10.').waitFor(visible);
  await page.keyboard.press('j');
  await focused('Prompt 11.');
  await page.keyboard.press('?');
  const keys = page.getByRole('dialog', { name: 'Keys' });
  await keys.getByText('Next turn').waitFor(visible);
  await page.keyboard.press('Escape');
  await keys.waitFor(hidden);
  await focused('Prompt 11.');

  await log().hover();
  await page.mouse.wheel(0, -20_000);
  await log().getByText('Prompt 1.', { exact: true }).waitFor(visible);
  await expect.poll(() => log().evaluate((element) => element.matches(':focus'))).toBe(true);
  await page.keyboard.press('j');
  await focused('Prompt 2.');

  // In the prompt box they are characters.
  await field().fill('');
  await field().press('j');
  expect(await field().inputValue()).toBe('j');
});
