/** The first work of a person with the page: a session in a project, a change that is approved, its review, a reload. */
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from '@decimalturn/toml-patch';
import type { Page } from 'playwright-core';
import { expectAccessible } from './accessibility.ts';
import type { ModelServer } from './model-server.ts';
import { answer, locatorsOf, visible } from './page-locators.ts';

/** Writes the configuration of the model into a home, and a git work tree into it, whose path is returned. */
export async function homeWithProject(home: string, model: ModelServer): Promise<string> {
  const project = join(home, 'project');
  await mkdir(project);
  execFileSync('git', ['init', '--quiet', project]);
  await writeFile(join(home, 'config.toml'), stringify(model.providerConfig()));
  return project;
}

/** Does it in the workspace of this name, on a page that was just opened. */
export async function makeAndReview(page: Page, { model, workspace }: { model: ModelServer; workspace: string }) {
  const on = locatorsOf(page);
  await page.getByRole('main').getByRole('button', { name: 'New session' }).click();
  await page.getByRole('dialog').getByRole('button', { name: workspace }).click();
  model.enqueue({ calls: [{ name: 'Bash', args: { command: 'echo one > made.txt' } }] });
  model.enqueue({ calls: [{ name: 'Write', args: { path: 'written.txt', content: 'one\ntwo\n' } }] });
  model.enqueue({ text: 'Made and written.' });
  await on.prompt().fill('Make it');
  await on.prompt().press('Enter');
  const end = page.getByText('Made and written.');
  for (;;) {
    await on.approve().or(end).first().waitFor(visible);
    if (await end.isVisible()) break;
    const label = await on.card().getAttribute('aria-label');
    await answer(page.getByRole('group', { name: label ?? '', exact: true }));
  }
  await page.keyboard.press('Control+Shift+D');
  await page.getByRole('tab', { name: 'Work tree' }).click();
  await page.getByRole('list', { name: 'Changed files' }).getByRole('button', { name: 'made.txt' }).click();
  await page.getByRole('option', { name: 'added: one' }).waitFor(visible);
  await expectAccessible(page);
  await page.reload();
  await end.waitFor(visible);
}
