// The page while 100,000 characters of Markdown stream: the longest task, and the time until a typed key is painted.
import { at, launchBrowser, longestTask, VIEWPORT } from '../browser.mjs';
import { createClient, follow, sessionWith } from '../client.mjs';
import { makeHome, startBuilt } from '../processes.mjs';

const KINDS = ['prose', 'list', 'table', 'fence'];
const KEY_EVERY_MS = 100;
const WAIT_MS = 120_000;

/** In the page: collects the time of each key from its press to the frame with its effect, in ms. */
const watchKeys = () => {
  window.keys = [];
  window.addEventListener(
    'keydown',
    ({ timeStamp }) =>
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.addEventListener('message', () => window.keys.push(performance.now() - timeStamp));
        channel.port1.start();
        channel.port2.postMessage(undefined);
      }),
    true,
  );
};

export async function measurePageStream({ builds, model, report }) {
  const browser = await launchBrowser(report);
  if (!browser) return;
  const { home, project, remove } = await makeHome(model.url);
  const server = await startBuilt(builds[0], { home });
  const client = createClient(server);
  try {
    const page = await browser.newPage({ viewport: VIEWPORT });
    page.setDefaultTimeout(WAIT_MS);
    await page.addInitScript(watchKeys);
    await page.goto(`${server.url}/#token=${server.token}`);
    for (const kind of KINDS) {
      const { id } = await client.api('POST', '/sessions', { metadata: { cwd: project }, title: kind });
      await page.goto(`${server.url}/#/s/${id}`);
      const prompt = page.getByRole('region', { name: kind, exact: true }).getByRole('textbox', { name: 'Prompt' });
      await prompt.focus();
      await page.evaluate(() => (window.keys.length = 0));
      const end = page.getByRole('log').getByText(`The end of the ${kind}.`);
      const events = await follow(server, [id]);
      const longest = await longestTask(browser, page, async () => {
        const turn = sessionWith(client, id).turn(events, kind.toUpperCase());
        const ended = turn.then(() => true);
        // The page is not queried meanwhile: finding a text takes it longer than drawing one.
        do await page.keyboard.press('x');
        while (!(await Promise.race([ended, page.waitForTimeout(KEY_EVERY_MS)])));
      });
      events.close();
      await end.waitFor();
      const keys = await page.evaluate(() => window.keys);
      report.line({ name: `page: longest task, ${kind} streams`, unit: 'ms CPU', now: [longest], aim: { most: 50 } });
      report.line({
        name: `page: key to frame, ${kind} streams, p95`,
        unit: 'ms',
        now: [at(keys, 0.95)],
        aim: { most: 50 },
      });
      report.note(`${keys.length} keys, slowest ${Math.max(...keys).toFixed(0)} ms`);
    }
  } finally {
    await browser.close();
    client.close();
    await server.stop('SIGTERM');
    remove();
  }
}
