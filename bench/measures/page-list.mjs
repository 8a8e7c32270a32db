// The page with 10,000 sessions in a real browser: scrolling its list to the end, which reads all pages, and back; and
// the change of the list when another client archives thousands.
import { launchBrowser, longestTask, VIEWPORT } from '../browser.mjs';
import { createClient } from '../client.mjs';
import { makeHome, startBuilt } from '../processes.mjs';
import { inParallel } from '../rounds.mjs';

const SESSIONS = 10_000;
const WIDTH = 8;
/** Pixels of one frame of scrolling. */
const STEP_PX = 600;
const ARCHIVED = 5_000;

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
  const browser = await launchBrowser(report);
  if (!browser) return;
  const count = quick ? SESSIONS / 10 : SESSIONS;
  const { home, project, remove } = await makeHome(model.url);
  const server = await startBuilt(builds[0], { home });
  const client = createClient(server);
  try {
    const ids = [];
    await inParallel(count, WIDTH, async () => {
      const session = await client.api('POST', '/sessions', { metadata: { cwd: project }, title: `A ${ids.length}` });
      ids.push(session.id);
    });
    const page = await browser.newPage({ viewport: VIEWPORT });
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
