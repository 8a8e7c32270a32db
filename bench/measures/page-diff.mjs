// The review of a difference of 20,000 lines in a real browser: its first lines, and scrolling through it.
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { at, framesOfWheel, launchBrowser, VIEWPORT } from '../browser.mjs';
import { createClient } from '../client.mjs';
import { makeHome, startBuilt } from '../processes.mjs';
import { median } from '../rounds.mjs';

const LINES = 20_000;
const OPENS = 5;
const WHEELS = 120;
const WHEEL_PX = 400;

/** In the page: selects a changed file and resolves to the milliseconds until its first lines are rendered. */
const shownDiff = async ({ path, text }) => {
  const files = [...document.querySelectorAll('ul[aria-label="Changed files"] button')];
  const begun = performance.now();
  files.find((file) => file.textContent.includes(path)).click();
  for (;;) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const lines = document.querySelector(`[role="listbox"][aria-label="Changed lines of ${path}"]`);
    if (lines?.textContent.includes(text)) return performance.now() - begun;
    if (performance.now() - begun > 30_000) throw new Error(`${path} is not shown`);
  }
};

export async function measurePageDiff({ builds, model, report }) {
  const browser = await launchBrowser(report);
  if (!browser) return;
  const { home, project, remove } = await makeHome(model.url);
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.org', ...args], { cwd: project });
  git('init', '--quiet');
  const lines = (text) => Array.from({ length: LINES / 2 }, (_, line) => `${text} ${line}\n`).join('');
  await writeFile(join(project, 'long.txt'), lines('before'));
  await writeFile(join(project, 'short.txt'), 'before\n');
  git('add', '.');
  git('commit', '--quiet', '-m', 'first');
  await writeFile(join(project, 'long.txt'), lines('after'));
  await writeFile(join(project, 'short.txt'), 'after\n');
  const server = await startBuilt(builds[0], { home });
  const client = createClient(server);
  try {
    const { id } = await client.api('POST', '/sessions', { metadata: { cwd: project }, title: 'A session' });
    const page = await browser.newPage({ viewport: VIEWPORT });
    await page.goto(`${server.url}/#token=${server.token}`);
    await page.goto(`${server.url}/#/s/${id}`);
    await page.getByRole('button', { name: 'Review', exact: true }).click();
    await page.getByRole('tab', { name: 'Work tree' }).click();
    await page.getByRole('list', { name: 'Changed files' }).getByRole('button', { name: 'long.txt' }).waitFor();
    const opens = [];
    for (let n = 0; n < OPENS; n += 1) {
      await page.evaluate(shownDiff, { path: 'short.txt', text: 'after' });
      opens.push(await page.evaluate(shownDiff, { path: 'long.txt', text: 'before 0' }));
    }
    const count = LINES.toLocaleString('en');
    report.line({ name: `page: first lines of a diff of ${count}`, unit: 'ms', now: opens, aim: { most: 300 } });
    await page.getByRole('listbox', { name: 'Changed lines of long.txt' }).hover();
    const frames = await framesOfWheel(page, WHEEL_PX, WHEELS);
    report.line({ name: 'page: frame while a diff scrolls, p50', unit: 'ms', now: [median(frames)] });
    report.line({
      name: 'page: frame while a diff scrolls, p95',
      unit: 'ms',
      now: [at(frames, 0.95)],
      aim: { most: 34 },
    });
    report.note(`longest ${Math.max(...frames).toFixed(0)} ms of ${frames.length} frames`);
  } finally {
    await browser.close();
    client.close();
    await server.stop('SIGTERM');
    remove();
  }
}
