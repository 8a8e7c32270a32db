// The page with a session of 5,000 turns in a real browser: opening it, scrolling through its turns, jumping to one,
// switching to another and back.
import { at, framesOfWheel, launchBrowser, VIEWPORT } from '../browser.mjs';
import { createClient } from '../client.mjs';
import { makeLongSession } from '../journals.mjs';
import { makeHome, startBuilt } from '../processes.mjs';
import { median } from '../rounds.mjs';

const TURNS = 5000;
const OPENS = 5;
const SWITCHES = 12;
const WHEELS = 120;
const WHEEL_PX = 400;
const JUMPS = 5;
const JUMP_TO = 100;

/** In the page: navigates to an address and resolves to the milliseconds until its conversation is rendered. */
const shown = async ({ hash, text }) => {
  const begun = performance.now();
  location.hash = hash;
  for (;;) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const log = document.querySelector('[role="log"]');
    const current = document.querySelector('.row[aria-current]')?.getAttribute('href') === hash;
    if (current && log?.textContent.includes(text)) return performance.now() - begun;
    if (performance.now() - begun > 30_000) throw new Error(`${text} is not shown`);
  }
};

/** In the page, with an open outline: jumps to a turn and resolves to the milliseconds until it is rendered. */
const jumped = async (turn) => {
  const entries = [...document.querySelectorAll('[role="dialog"] ul button')].toReversed();
  const begun = performance.now();
  entries[turn].click();
  for (;;) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const isWindow = [...document.querySelectorAll('button')].some(
      ({ textContent }) => textContent.trim() === 'To the newest',
    );
    if (isWindow && document.querySelector('[role="log"] article')) return performance.now() - begun;
    if (performance.now() - begun > 30_000) throw new Error(`turn ${turn} is not shown`);
  }
};

export async function measurePage({ builds, model, report }) {
  const browser = await launchBrowser(report);
  if (!browser) return;
  const { home, project, remove } = await makeHome(model.url);
  const { id } = await makeLongSession({ build: builds[0], home, project }, TURNS);
  const server = await startBuilt(builds[0], { home });
  const client = createClient(server);
  try {
    const other = await client.api('POST', '/sessions', { metadata: { cwd: project }, title: 'Another' });
    await client.api('POST', `/sessions/${other.id}/prompts`, { content: [{ type: 'text', text: 'SAY another' }] });
    const page = await browser.newPage({ viewport: VIEWPORT });
    await page.goto(`${server.url}/#token=${server.token}`);
    await page.getByRole('link').first().waitFor();
    const long = { hash: `#/s/${id}`, text: 'READ the file.' };
    const short = { hash: `#/s/${other.id}`, text: 'SAY another' };

    const turns = `${TURNS.toLocaleString('en')} turns`;
    const folded = await page.evaluate(shown, long);
    report.line({
      name: `page: first open of ${turns}, folded for it`,
      unit: 'ms',
      now: [folded],
      aim: { most: 2000 },
    });
    const opens = [];
    for (let n = 0; n < OPENS; n += 1) {
      await page.goto('about:blank');
      await page.goto(`${server.url}/#token=${server.token}`);
      await page.getByRole('link').first().waitFor();
      opens.push(await page.evaluate(shown, long));
    }
    report.line({ name: `page: open ${turns}`, unit: 'ms', now: opens, aim: { most: 500 } });

    await page.getByRole('log').hover();
    const frames = await framesOfWheel(page, -WHEEL_PX, WHEELS);
    const rows = await page.locator('[role="log"] [data-index]').count();
    report.line({ name: 'page: frame while scrolling, p50', unit: 'ms', now: [median(frames)], aim: { most: 17.5 } });
    report.line({ name: 'page: frame while scrolling, p95', unit: 'ms', now: [at(frames, 0.95)], aim: { most: 34 } });
    report.note(`longest ${Math.max(...frames).toFixed(0)} ms of ${frames.length} frames; ${rows} rows drawn`);

    const jumps = [];
    for (let n = 0; n < JUMPS; n += 1) {
      await page.goto('about:blank');
      await page.goto(`${server.url}/#token=${server.token}`);
      await page.getByRole('link').first().waitFor();
      await page.evaluate(shown, long);
      await page.getByRole('button', { name: 'Outline of the prompts' }).click();
      await page.getByRole('dialog').getByRole('listitem').first().waitFor();
      jumps.push(await page.evaluate(jumped, JUMP_TO));
    }
    report.line({ name: `page: jump to turn ${JUMP_TO} of ${turns}`, unit: 'ms', now: jumps, aim: { most: 300 } });

    await page.evaluate(shown, short);
    const switches = [];
    for (let n = 0; n < SWITCHES; n += 1) switches.push(await page.evaluate(shown, n % 2 ? short : long));
    report.line({ name: 'page: switch between two sessions, p50', unit: 'ms', now: switches, aim: { most: 100 } });
    report.note(`longest ${Math.max(...switches).toFixed(0)} ms`);
  } finally {
    await browser.close();
    client.close();
    await server.stop('SIGTERM');
    remove();
  }
}
