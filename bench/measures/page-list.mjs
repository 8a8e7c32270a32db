// The page with 10,000 sessions in a real browser: scrolling its list to the end, which reads all pages, and back; and
// the change of the list when another client archives thousands.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { createClient } from '../client.mjs';
import { makeHome, startBuilt } from '../processes.mjs';
import { inParallel } from '../rounds.mjs';

const SESSIONS = 10_000;
const WIDTH = 8;
/** Pixels of one frame of scrolling. */
const STEP_PX = 600;
const ARCHIVED = 5_000;
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'];
const EXECUTABLES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/**
 * Runs `work`; the longest task of the page's main thread meanwhile, in ms of CPU: on a busy machine its time by the
 * clock contains the work of other processes.
 */
async function longestTask(browser, page, work) {
  await browser.startTracing(page, { categories: ['toplevel'] });
  await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const threadOf = ({ pid, tid }) => `${pid} ${tid}`;
  const mains = traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain');
  const threads = new Set(mains.map(threadOf));
  const tasks = traceEvents.filter((event) => event.name.endsWith('RunTask') && threads.has(threadOf(event)));
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur / 1000));
}

/** In the page: a task of 80 ms. */
const block = () =>
  new Promise((resolve) => {
    setTimeout(() => {
      const end = performance.now() + 80;
      while (performance.now() < end);
      resolve();
    });
  });

/** In the page: scrolls a frame at a time until the end of all pages; resolves to the largest number of drawn rows. */
const scrollToEnd = async (step) => {
  const list = document.querySelector('nav[aria-label="Sessions"]');
  let drawn = 0;
  for (;;) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const rows = list.querySelectorAll('li');
    drawn = Math.max(drawn, rows.length);
    const isAll = rows[0]?.getAttribute('aria-setsize') !== '-1';
    if (isAll && list.scrollTop + list.clientHeight >= list.scrollHeight - 1) return drawn;
    list.scrollTop += step;
  }
};

/** In the page: scrolls back a frame at a time. */
const scrollToStart = async (step) => {
  const list = document.querySelector('nav[aria-label="Sessions"]');
  while (list.scrollTop > 0) {
    list.scrollTop -= step;
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
};

/** In the page: resolves when the list has at most so many rows. */
const shrunk = async (most) => {
  const list = document.querySelector('nav[aria-label="Sessions"]');
  while (Number(list.querySelector('li')?.getAttribute('aria-setsize')) > most) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

export async function measurePageList({ builds, model, quick, report }) {
  const executablePath = process.env['CHROMIUM_PATH'] ?? EXECUTABLES.find((path) => existsSync(path));
  if (!executablePath) return report.note('no chromium: left out');
  const count = quick ? SESSIONS / 10 : SESSIONS;
  const { home, project, remove } = await makeHome(model.url);
  const server = await startBuilt(builds[0], { home });
  const client = createClient(server);
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  try {
    const ids = [];
    await inParallel(count, WIDTH, async () => {
      const session = await client.api('POST', '/sessions', { metadata: { cwd: project }, title: `A ${ids.length}` });
      ids.push(session.id);
    });
    const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
    await page.goto(`${server.url}/#token=${server.token}`);
    await page.getByRole('link').first().waitFor();
    const measure = async (name, work) =>
      report.line({
        name: `page: longest task ${name}`,
        unit: 'ms CPU',
        now: [await longestTask(browser, page, work)],
        aim: { most: 50 },
      });
    // A scheduler that interrupts it takes part of its time.
    const seen = await longestTask(browser, page, () => page.evaluate(block));
    if (seen < 10) throw new Error(`the browser reports ${seen} ms for a task of 80 ms`);

    const many = count.toLocaleString('en');
    let drawn = 0;
    await measure(`while the list of ${many} sessions is read by scrolling`, async () => {
      drawn = await page.evaluate(scrollToEnd, STEP_PX);
    });
    report.note(`at most ${drawn} rows drawn`);
    await measure(`while ${many} sessions scroll`, () => page.evaluate(scrollToStart, STEP_PX));
    const archived = ids.slice(0, quick ? ARCHIVED / 10 : ARCHIVED);
    await measure(`while another client archives ${archived.length.toLocaleString('en')}`, async () => {
      const { text } = await client.send('POST', '/api/v2/sessions:archive', { ids: archived });
      if (JSON.parse(text).data.succeeded !== archived.length) throw new Error(`archive: ${text.slice(0, 500)}`);
      await page.evaluate(shrunk, count - archived.length + 1);
    });
  } finally {
    await browser.close();
    client.close();
    await server.stop('SIGTERM');
    remove();
  }
}
