// The page with a session of 5,000 turns in a real browser: opening it, scrolling through its turns, switching to
// another and back.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { createClient } from '../client.mjs';
import { makeLongSession } from '../journals.mjs';
import { makeHome, startBuilt } from '../processes.mjs';
import { median } from '../rounds.mjs';

const TURNS = 5000;
const OPENS = 5;
const SWITCHES = 12;
const WHEELS = 120;
const WHEEL_PX = 400;
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'];
const EXECUTABLES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

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

/** In the page: milliseconds between frames, until `stop` is called. */
const watchFrames = () => {
  const frames = [];
  let last = performance.now();
  let going = true;
  const look = (now) => {
    frames.push(now - last);
    last = now;
    if (going) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  window.stopFrames = () => {
    going = false;
    return frames.slice(1);
  };
};

const at = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))];

export async function measurePage({ builds, model, report }) {
  const executablePath = process.env['CHROMIUM_PATH'] ?? EXECUTABLES.find((path) => existsSync(path));
  if (!executablePath) return report.note('no chromium: left out');
  const { home, project, remove } = await makeHome(model.url);
  const { id } = await makeLongSession({ build: builds[0], home, project }, TURNS);
  const server = await startBuilt(builds[0], { home });
  const client = createClient(server);
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  try {
    const other = await client.api('POST', '/sessions', { metadata: { cwd: project }, title: 'Another' });
    await client.api('POST', `/sessions/${other.id}/prompts`, { content: [{ type: 'text', text: 'SAY another' }] });
    const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
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
    report.line({ name: `page: open ${turns}`, unit: 'ms', now: opens, aim: { most: 1000 } });

    await page.getByRole('log').hover();
    await page.evaluate(watchFrames);
    for (let wheel = 0; wheel < WHEELS; wheel += 1) await page.mouse.wheel(0, -WHEEL_PX);
    const frames = await page.evaluate(() => window.stopFrames());
    const rows = await page.locator('[role="log"] [data-index]').count();
    report.line({ name: 'page: frame while scrolling, p50', unit: 'ms', now: [median(frames)], aim: { most: 17.5 } });
    report.line({ name: 'page: frame while scrolling, p95', unit: 'ms', now: [at(frames, 0.95)], aim: { most: 50 } });
    report.note(`longest ${Math.max(...frames).toFixed(0)} ms of ${frames.length} frames; ${rows} rows drawn`);

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
