// A real browser on a server's page, and the values that are read from it.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'];
const EXECUTABLES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
export const VIEWPORT = { width: 1200, height: 800 };

/** Undefined where no chromium is installed, which the report states. */
export async function launchBrowser(report) {
  const executablePath = process.env['CHROMIUM_PATH'] ?? EXECUTABLES.find((path) => existsSync(path));
  if (!executablePath) return report.note('no chromium: left out');
  return chromium.launch({ executablePath, args: FLAGS });
}

/** The value below which that share of the values is. */
export const at = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))];

const threadOf = ({ pid, tid }) => `${pid} ${tid}`;

/** The longest task of these threads, in ms of CPU: on a busy machine its time by the clock contains other processes. */
function longestOf(traceEvents, threads) {
  const tasks = traceEvents.filter((event) => event.name.endsWith('RunTask') && threads.has(threadOf(event)));
  return tasks.reduce((most, { tdur = 0 }) => Math.max(most, tdur / 1000), 0);
}

/** Runs `work`; the longest task of the page's main thread meanwhile, in ms of CPU. */
export async function longestTask(browser, page, work) {
  await browser.startTracing(page, { categories: ['toplevel'] });
  await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const mains = traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain');
  return longestOf(traceEvents, new Set(mains.map(threadOf)));
}

/**
 * The longest task of the load of a page, in ms of CPU, without developer tools, as people load it: with them, each
 * request takes a stack trace, for which the scripts are parsed once more. `loaded` resolves when the page has loaded.
 */
export async function longestTaskOfLoad(browser, url, loaded) {
  const devtools = await browser.newBrowserCDPSession();
  await browser.startTracing(undefined, { categories: ['toplevel', 'blink.user_timing'] });
  const { browserContextId } = await devtools.send('Target.createBrowserContext');
  await devtools.send('Target.createTarget', { url, browserContextId, ...VIEWPORT });
  await loaded();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  await devtools.send('Target.disposeBrowserContext', { browserContextId });
  await devtools.detach();
  const { origin } = new URL(url);
  const starts = traceEvents.filter(
    ({ name, args }) => name === 'navigationStart' && args.data?.documentLoaderURL?.startsWith(origin),
  );
  if (starts.length === 0) throw new Error('the trace has no load of the page');
  return longestOf(traceEvents, new Set(starts.map(threadOf)));
}

/** In the page: milliseconds between frames, until `stopFrames` is called. */
export const watchFrames = () => {
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

/** Scrolls what is below the pointer; the milliseconds between frames meanwhile. */
export async function framesOfWheel(page, px, wheels) {
  await page.evaluate(watchFrames);
  for (let wheel = 0; wheel < wheels; wheel += 1) await page.mouse.wheel(0, px);
  return page.evaluate(() => window.stopFrames());
}
