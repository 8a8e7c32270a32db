/** Traps of the page: replies that arrive after the person has moved on, input methods, and memory over many switches. */
import type { CDPSession, Page, Route } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import { usePage } from '#support/browser.ts';
import { useBuiltServer } from '#support/built-server.ts';
import type { Script } from '#support/model-server.ts';

const built = useBuiltServer(undefined, { per: 'file' });
let page: Page;
let browser: CDPSession;

usePage(
  () => built.server,
  (opened) => ({ page } = opened),
);

beforeEach(async () => {
  browser = await page.context().newCDPSession(page);
  await page.setViewportSize({ width: 1400, height: 800 });
});

const visible = { state: 'visible' } as const;
const hidden = { state: 'hidden' } as const;
const pane = (title: string) => page.getByRole('region', { name: title, exact: true });
const field = (title: string) => pane(title).getByRole('textbox', { name: 'Prompt' });

async function newSession(title: string): Promise<string> {
  const id = await built.newSession();
  await built.ok('POST', `/sessions/${id}/profile`, { title });
  return id;
}

const open = (...ids: string[]) => page.goto(`${built.server.url}/#/s/${ids.join('+')}`);

/** Holds the replies of requests until it is called. */
async function holdReplies(path: string): Promise<() => void> {
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  await page.route(path, async (route: Route) => {
    const response = await route.fetch();
    await gate;
    await route.fulfill({ response });
  });
  return release;
}

it('leaves the focus and the text of the pane that was entered before a prompt of another one was accepted', async () => {
  const ids = [await newSession('Sending'), await newSession('Entered')];
  await open(...ids);
  await field('Sending').fill('hello');
  const release = await holdReplies(`**/sessions/${ids[0]}/prompts`);
  built.base.model.enqueue({ text: 'Answered.' });
  await field('Sending').press('Enter');
  await field('Entered').click();
  await page.keyboard.type('half a ');
  const replied = page.waitForResponse(/\/prompts$/);
  release();
  await replied;
  await pane('Sending').getByText('Answered.').waitFor(visible);
  await expect.poll(() => field('Sending').inputValue()).toBe('');
  await page.keyboard.type('sentence');
  expect(await field('Entered').inputValue()).toBe('half a sentence');
});

it('takes no pane for a copy whose dialog was left, and keeps the text for it', async () => {
  const [id = '', other = ''] = [await newSession('Copied'), await newSession('Elsewhere')];
  built.base.model.enqueue({ text: 'Answer to one.' });
  await built.prompt(id, 'one');
  await open(id);
  await pane('Copied').getByText('Answer to one.').waitFor(visible);
  await pane('Copied').getByRole('article', { name: 'You' }).hover();
  await pane('Copied').getByRole('button', { name: 'Actions for this prompt' }).click();
  await page.getByRole('menuitem', { name: 'Continue in a copy' }).click();
  const release = await holdReplies('**/sessions/*:undo');
  const undone = page.waitForRequest(/:undo$/);
  await page.getByRole('button', { name: 'Open the copy' }).click();
  const copy = /sessions\/([^/:]+):undo$/.exec((await undone).url())?.[1] ?? '';
  await page.keyboard.press('Escape');
  await page.locator(`a[href="#/s/${other}"]`).first().click();
  await field('Elsewhere').fill('mine');
  const replied = page.waitForResponse(/:undo$/);
  release();
  await replied;
  await page.evaluate('new Promise((resolve) => setTimeout(resolve))');
  expect(page.url()).toContain(other);
  expect(await field('Elsewhere').inputValue()).toBe('mine');
  await open(copy);
  await expect.poll(() => page.getByRole('textbox', { name: 'Prompt' }).inputValue()).toBe('one');
});

it('leaves a menu open that was opened while the code of a session was loading', async () => {
  const id = await newSession('Loading slowly');
  await newSession('Has a menu');
  await open();
  const release = await holdReplies('**/assets/session-*.js');
  await page.locator(`a[href="#/s/${id}"]`).first().click();
  await page.locator('.session-item', { hasText: 'Has a menu' }).hover();
  await page.getByRole('button', { name: 'Menu of Has a menu' }).click();
  const entries = page.getByRole('menu').getByRole('menuitem');
  await entries.first().waitFor(visible);
  await page.keyboard.press('ArrowDown');
  release();
  await field('Loading slowly').waitFor(visible);
  await page.keyboard.press('ArrowDown');
  expect(await page.locator('[role="menuitem"]:focus').count()).toBe(1);
  await page.keyboard.press('Escape');
  await entries.first().waitFor(hidden);
  await page.locator(`a[href="#/s/${id}"]`).first().click();
  await field('Loading slowly').click();
});

/** Composes a word as an input method does, and ends it by Enter. */
async function compose(text: string) {
  await browser.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
  const enter = { key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 229 };
  await browser.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...enter });
  await browser.send('Input.insertText', { text });
  await browser.send('Input.dispatchKeyEvent', { type: 'keyUp', ...enter });
}

it('keeps a prompt, a goal and a search while Enter ends a composition', async () => {
  const id = await newSession('Composed');
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && /\/(?:profile|prompts)$/.test(request.url()))
      sent.push(request.postData() ?? '');
  });
  await open(id);
  await field('Composed').focus();
  await compose('日本');
  await compose('語');
  expect(await field('Composed').inputValue()).toBe('日本語');
  expect(await pane('Composed').getByRole('article', { name: 'You' }).count()).toBe(0);

  await pane('Composed').getByRole('button', { name: 'Goal', exact: true }).click();
  const objective = page.getByRole('textbox', { name: 'Objective' });
  await objective.fill('目');
  await compose('標');
  expect(await objective.inputValue()).toBe('目標');
  await page.keyboard.press('Escape');
  await objective.waitFor(hidden);

  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Search' });
  const input = palette.getByRole('combobox');
  await input.fill('>');
  await compose('Re');
  await palette.getByRole('option').first().waitFor(visible);
  expect(await input.inputValue()).toBe('>Re');
  await page.keyboard.press('Escape');
  await palette.waitFor(hidden);

  built.base.model.enqueue({ text: 'はい。' });
  await field('Composed').press('Enter');
  await pane('Composed').getByText('はい。').waitFor(visible);
  expect(sent).toHaveLength(1);
  expect(sent[0]).toContain('日本語');
});

async function usedHeap(): Promise<number> {
  for (let run = 0; run < 3; run += 1) await browser.send('HeapProfiler.collectGarbage');
  return (await browser.send('Runtime.getHeapUsage')).usedSize;
}

it('leaves the heap within 30 MB after 200 switches between sessions', async () => {
  const text = `# Title\n\n${'Words and `code`. '.repeat(60)}\n\n\`\`\`ts\n${'const a = 1;\n'.repeat(40)}\`\`\`\n\n`;
  const calls = (path: string): Script => ({ calls: [{ name: 'Read', args: { path } }] });
  const ids: string[] = [];
  for (let number = 0; number < 8; number += 1) {
    const id = await newSession(`Switched ${number}`);
    ids.push(id);
    for (let turn = 0; turn < 4; turn += 1) {
      built.base.model.enqueue(calls('missing'));
      built.base.model.enqueue({ text: `${text}End ${turn} of ${number}.` });
      await built.prompt(id, `Prompt ${turn}`);
      await expect
        .poll(async () => (await built.server.api('GET', `/sessions/${id}`)).data, { interval: 20 })
        .toMatchObject({ busy: false, main_turn_active: false });
    }
  }
  const visit = async (count: number) => {
    for (let at = 0; at < count; at += 1) {
      const number = at % ids.length;
      await page.evaluate(`location.hash = '#/s/${ids[number]}'`);
      await pane(`Switched ${number}`).getByText(`End 3 of ${number}.`).waitFor(visible);
    }
  };
  await open(ids[0] ?? '');
  await visit(2 * ids.length);
  const before = await usedHeap();
  await visit(200);
  expect((await usedHeap()) - before).toBeLessThan(30 * 1024 * 1024);
});
