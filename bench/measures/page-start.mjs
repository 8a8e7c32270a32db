// The load of the page in a real browser: bytes on the wire, first paint, the longest task, and what moves meanwhile.
import { setTimeout as delay } from 'node:timers/promises';
import { launchBrowser, longestTaskOfLoad, VIEWPORT } from '../browser.mjs';
import { createClient, follow, sessionWith } from '../client.mjs';
import { makeHome, startBuilt } from '../processes.mjs';
import { median } from '../rounds.mjs';

const LOADS = 7;
const QUICK_LOADS = 3;
const TURNS = 3;
/** Slowdown of the CPU of a phone. */
const SLOW = 4;
/** After the connection of the page, whose lists are then read and drawn. */
const SETTLED_MS = 1000;
/** The wire bytes of the first view, and those that a session adds. */
const FIRST_KB = 180;
const SESSION_KB = 140;

/** In the page, before its scripts: sums up the shifts of its layout that no input has caused. */
const watchShifts = () => {
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value } of list.getEntries()) if (!hadRecentInput) window.shifted += value;
  }).observe({ type: 'layout-shift', buffered: true });
};

/** Resolves when `isReached` does to true; fails after 30 s. */
async function until(isReached) {
  const end = performance.now() + 30_000;
  while (!(await isReached())) {
    if (performance.now() > end) throw new Error('the page has not connected, or not disconnected');
    await delay(50);
  }
}

const firstPaint = () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime;

/** A page without a cache: `bytes()` received for its files so far, without the requests of the API. */
async function openFresh(browser, slow = 1) {
  const context = await browser.newContext({ viewport: VIEWPORT });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  const files = new Set();
  let bytes = 0;
  devtools.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (!new URL(request.url).pathname.includes('/api/')) files.add(requestId);
  });
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (files.has(requestId)) bytes += encodedDataLength;
  });
  await devtools.send('Network.enable');
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: slow });
  await page.addInitScript(watchShifts);
  return { page, bytes: () => bytes, close: () => context.close() };
}

export async function measurePageStart({ builds, model, quick, report }) {
  const browser = await launchBrowser(report);
  if (!browser) return;
  const { home, project, remove } = await makeHome(model.url);
  const server = await startBuilt(builds[0], { home });
  const client = createClient(server);
  const loads = Array.from({ length: quick ? QUICK_LOADS : LOADS }, (_, at) => at);
  const start = `${server.url}/#token=${server.token}`;
  try {
    const { id } = await client.api('POST', '/sessions', { metadata: { cwd: project }, title: 'A session' });
    const events = await follow(server, [id]);
    const session = sessionWith(client, id);
    for (let turn = 0; turn < TURNS; turn += 1) await session.turn(events, 'READ the file.');
    const connections = async () => (await client.api('GET', '/connections')).connections.length;
    const withoutPage = await connections();

    const [first, more, shifts] = [[], [], []];
    for (const _ of loads) {
      const { page, bytes, close } = await openFresh(browser);
      await page.goto(start, { waitUntil: 'networkidle' });
      await page.getByRole('link', { name: 'A session' }).waitFor();
      const before = bytes();
      first.push(before / 1000);
      await page.goto(`${server.url}/#/s/${id}`);
      await page.getByRole('textbox', { name: 'Prompt' }).waitFor();
      await page.waitForLoadState('networkidle');
      more.push((bytes() - before) / 1000);
      await session.turn(events, 'READ the file.');
      await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'hidden' });
      shifts.push(await page.evaluate(() => window.shifted));
      await close();
    }
    report.line({ name: 'page: first view on the wire', unit: 'kB', now: first, aim: { most: FIRST_KB } });
    report.line({ name: 'page: a session more', unit: 'kB', now: more, aim: { most: SESSION_KB } });
    report.line({ name: 'page: layout shift, start to answer', unit: 'CLS', now: shifts, aim: { most: 0.02 } });

    for (const [slow, most] of [
      [1, 500],
      [SLOW, 1000],
    ]) {
      const paints = [];
      for (const _ of loads) {
        const { page, close } = await openFresh(browser, slow);
        await page.goto(start);
        await page.getByRole('link', { name: 'A session' }).waitFor();
        paints.push(await page.evaluate(firstPaint));
        await close();
      }
      const name = slow === 1 ? 'page: first paint' : `page: first paint, CPU ${slow} times slower`;
      report.line({ name, unit: 'ms', now: paints, aim: { most } });
    }

    const tasks = [];
    for (const _ of loads) {
      // The page before may not be closed yet.
      await until(async () => (await connections()) === withoutPage);
      const loaded = async () => {
        await until(async () => (await connections()) > withoutPage);
        await delay(SETTLED_MS);
      };
      tasks.push(await longestTaskOfLoad(browser, start, loaded));
    }
    report.line({ name: 'page: longest task at start', unit: 'ms CPU', now: tasks, aim: { most: 60 } });
    report.note(
      `${loads.length} loads, longest task of all ${Math.max(...tasks).toFixed(0)} ms, median ${median(tasks).toFixed(0)} ms`,
    );
    events.close();
  } finally {
    await browser.close();
    client.close();
    await server.stop('SIGTERM');
    remove();
  }
}
