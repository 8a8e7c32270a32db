/** Draws the pictures of the page in `docs/` (`npm run pictures`). Build the page first. */
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { PHONE } from '#support/accessibility.ts';
import { usePage } from '#support/browser.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { answer, locatorsOf, visible, type PageLocators } from '#support/page-locators.ts';

const DOCS = resolve(import.meta.dirname, '../../docs');
const MOST_BYTES = 150_000;
const PICTURES_MS = 900_000;
const WIDE = { width: 1280, height: 800 };

const GREET = `/** A greeting in the language of the person. */
export function greet(name: string, language = 'en'): string {
  return language === 'de' ? \`Hallo, \${name}!\` : \`Hello, \${name}!\`;
}
`;
const NOTES = `The median of three samples is stable enough here, because outliers are rare:

$$\\tilde x = x_{(2)}, \\qquad P(|\\tilde x - \\mu| > \\varepsilon) \\le 3p^2$$

| Sample | Before | After |
| ------ | -----: | ----: |
| small  | 41 ms  | 12 ms |
| large  | 310 ms | 96 ms |

\`\`\`ts
const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1];
\`\`\`

1. \`src/greet.ts:2\` has the new parameter.
2. The tests cover **both** languages.
`;

const built = useBuiltServer(
  async ({ project }) => {
    await mkdir(join(project, 'src'));
    await writeFile(
      join(project, 'src', 'greet.ts'),
      GREET.replace(', language', '').replace(/return.*/, 'return name;'),
    );
    await writeFile(join(project, 'README.md'), '# Greetings\n');
    for (const args of [
      ['add', '.'],
      ['commit', '-q', '-m', 'first'],
    ]) {
      execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.org', ...args], { cwd: project });
    }
  },
  { per: 'file' },
);
let page: Page;
let on: PageLocators;

usePage(
  () => built.server,
  (opened) => {
    ({ page } = opened);
    on = locatorsOf(page);
  },
  { viewport: WIDE, reducedMotion: 'reduce' },
);

async function draw(name: string) {
  await page.mouse.move(0, 0);
  const { size } = await sharp(await page.screenshot())
    .png({ palette: true, colours: 64 })
    .toFile(join(DOCS, `${name}.png`));
  if (size > MOST_BYTES) throw new Error(`${name}.png has ${size} bytes`);
}

async function newSession(title: string): Promise<string> {
  const id = await built.newSession();
  await built.ok('POST', `/sessions/${id}/profile`, { title });
  return id;
}

async function open(...ids: string[]) {
  await page.goto(`${built.server.url}/#/s/${ids.join('+')}`);
  await on.prompt().first().waitFor(visible);
}

const todos = (done: number) => ({
  todos: ['Read the code', 'Add the language', 'Write the tests'].map((title, at) => ({
    title,
    status: at < done ? 'done' : at === done ? 'in_progress' : 'pending',
  })),
});
const ticking = {
  name: 'Bash',
  args: {
    command: 'npm run watch || sleep 600',
    description: 'Watch the tests',
    run_in_background: true,
  },
};

it.runIf(process.env['PICTURES'])(
  'draws the pictures of the page',
  async () => {
    const { model } = built.base;
    const greetings = await newSession('Greet in German');
    const measured = await newSession('Measure the median');
    const cleaning = await newSession('Remove dead code');

    // A conversation with formulas, a table and code.
    await open(measured);
    model.enqueue({ text: NOTES });
    await built.prompt(measured, 'Is the median of three samples good enough?');
    await page.locator('.katex').first().waitFor(visible);
    await page.getByText('both').waitFor(visible);
    await draw('page-conversation');

    // A change with a todo list, whose command waits for an approval.
    await open(greetings);
    model.enqueue({
      calls: [
        { name: 'TodoList', args: todos(1) },
        { name: 'Read', args: { path: 'src/greet.ts' } },
      ],
    });
    model.enqueue({
      text: 'I add the language.',
      calls: [{ name: 'Write', args: { path: 'src/greet.ts', content: GREET } }],
    });
    model.enqueue({ calls: [ticking] });
    model.enqueue({
      text: 'The function has its parameter now. I run the tests.',
      calls: [{ name: 'Bash', args: { command: 'npm test -- --reporter=dot', description: 'Run the tests' } }],
    });
    await built.prompt(greetings, 'Greet people in German, too.');
    await on.card().getByText('npm run watch').first().waitFor(visible);
    await answer(page.getByRole('group', { name: (await on.card().getAttribute('aria-label')) ?? '', exact: true }));
    await on.card().getByText('npm test').first().waitFor(visible);
    await expect.poll(() => on.approve().isEnabled()).toBe(true);
    await draw('page');

    // Next to a session that asks, in the dark theme.
    await open(cleaning);
    model.enqueue({
      calls: [
        {
          name: 'AskUserQuestion',
          args: {
            questions: [
              {
                question: 'Nothing imports the old parser. What should happen to it?',
                header: 'Parser',
                options: [
                  { label: 'Remove it', description: 'Its tests go with it.' },
                  { label: 'Keep it', description: 'It is marked as deprecated.' },
                ],
              },
            ],
          },
        },
      ],
    });
    await built.prompt(cleaning, 'Remove what nobody calls.');
    await on.question().waitFor(visible);
    await open(greetings, cleaning);
    await on.card().waitFor(visible);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(() => on.approve().isEnabled()).toBe(true);
    await draw('page-panes');
    await page.emulateMedia({ colorScheme: 'light' });

    // On a phone.
    await page.setViewportSize(PHONE);
    await open(greetings);
    await on.card().waitFor(visible);
    await expect.poll(() => on.approve().isEnabled()).toBe(true);
    await draw('page-phone');
    await page.setViewportSize(WIDE);

    // Plan and tasks, review, files, palette.
    await open(greetings);
    await on.button('Plan and tasks').click();
    await page.getByRole('complementary', { name: 'Plan and tasks' }).getByText('Watch the tests').waitFor(visible);
    await expect.poll(() => on.approve().isEnabled()).toBe(true);
    await draw('page-plan');
    await page.getByRole('tab', { name: 'Review', exact: true }).click();
    await page.getByRole('tab', { name: 'Work tree' }).click();
    await page.getByRole('button', { name: 'src/greet.ts' }).first().click();
    const line = page.getByRole('option', { name: /^added:.*Hallo/ });
    await line.click();
    await on.button('Comment').click();
    await page.getByRole('textbox', { name: /^Comment on/ }).fill('Other languages will follow: use a table.');
    await on.button('Add').click();
    await page.getByRole('button', { name: 'Send 1 comment' }).waitFor(visible);
    await draw('page-review');
    await page.getByRole('tab', { name: 'Files', exact: true }).click();
    await page.getByRole('treeitem', { name: /^src/ }).click();
    await page.getByRole('treeitem', { name: /^greet.ts/ }).click();
    await page.getByRole('region', { name: 'src/greet.ts' }).waitFor(visible);
    await draw('page-files');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Search' }).getByRole('combobox').fill('>');
    await page.getByRole('option', { name: /New session/ }).waitFor(visible);
    await draw('page-palette');
  },
  PICTURES_MS,
);
