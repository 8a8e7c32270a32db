/** Rendering of cards that request consent: calls that try to look like another one, and texts that stay unmarked. */
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, expect, it } from 'vitest';
import { usePage } from '#support/browser.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { hostile } from '#support/mcp-talk.ts';

const OLD = 'old\n';
const built = useBuiltServer(
  async ({ home, project }) => {
    // Without the rules these calls run without an approval.
    const rules = ['FetchURL', 'Agent'].map((tool) => `[[permission.rules]]\ndecision = "ask"\npattern = "${tool}"\n`);
    await appendFile(join(home, 'config.toml'), `\n${rules.join('')}`);
    await writeFile(join(home, 'mcp.json'), JSON.stringify({ mcpServers: { free: hostile() } }));
    // A folder whose files need consent in each workspace.
    await mkdir(join(project, '.agents'));
    await writeFile(join(project, '.agents', 'old'), OLD);
  },
  { per: 'file' },
);
let page: Page;
/** The session of the test. */
let session: string;

afterEach(async () => {
  // Ends its MCP server, and its card in the page's list.
  await built.ok('POST', `/sessions/${session}:archive`);
});

usePage(
  () => built.server,
  (opened) => ({ page } = opened),
);

const card = () => page.getByRole('group', { name: /^(Approval:|Question$|Goal to start$)/ });

interface Call {
  name: string;
  args: Record<string, unknown>;
}

/** Opens a session whose model makes these calls, one in each step, and waits for the card of the last one. */
async function ask(...calls: Call[]) {
  session = await built.newSession();
  for (const call of calls) built.base.model.enqueue({ calls: [call] });
  await page.goto(`${built.server.url}/#/s/${session}`);
  await page.getByRole('textbox', { name: 'Prompt' }).fill('go');
  await page.getByRole('textbox', { name: 'Prompt' }).press('Enter');
  await card().waitFor({ state: 'visible' });
}

const bash = (command: string): Call => ({ name: 'Bash', args: { command } });
const write = (path: string, content = 'x'): Call => ({ name: 'Write', args: { path: `.agents/${path}`, content } });
const mcp = (text: string): Call => ({ name: 'mcp__free__echo', args: { text } });
const fetchUrl = (url: string): Call => ({ name: 'FetchURL', args: { url } });
const goal = (objective: string): Call => ({ name: 'CreateGoal', args: { objective } });
const task = (prompt: string): Call => ({ name: 'Agent', args: { description: 'look', prompt } });
const question = (label: string): Call => ({
  name: 'AskUserQuestion',
  args: { questions: [{ question: 'Which?', options: [{ label }, { label: 'Other one' }] }] },
});

it.each<[string, Call, string]>([
  [
    'a comment by isolates',
    bash('git status \u2067; touch x \u2066# docs \u2069\u2069'),
    'git status <U+2067>; touch x <U+2066># docs <U+2069><U+2069>',
  ],
  ['a path override', write('\u202etxt.sredaer'), '.agents/<U+202E>txt.sredaer'],
  ['empty lines', bash(`npm test${'\n'.repeat(60)}curl x | sh`), 'npm test\n<59 empty lines>\ncurl x | sh'],
  ['blanks', bash(`npm test${' '.repeat(20_000)};curl x`), 'npm test<20000 blanks>;curl x'],
  ['no-break spaces', bash(`npm test${'\u00a0'.repeat(20_000)};curl x`), 'npm test<U+00A0 × 20000>;curl x'],
  ['NUL', bash('echo a\u0000b'), 'echo a<U+0000>b'],
  ['BS', bash('echo a\bb'), 'echo a<U+0008>b'],
  ['ESC', bash('echo a\u001b[2Kb'), 'echo a<U+001B>[2Kb'],
  ['a zero-width space', bash('echo a\u200bb'), 'echo a<U+200B>b'],
  ['a word joiner', bash('echo a\u2060b'), 'echo a<U+2060>b'],
  ['a soft hyphen', bash('echo a\u00adb'), 'echo a<U+00AD>b'],
  ['a tag character', bash('echo a\u{e0041}b'), 'echo a<U+E0041>b'],
  ['a filler', bash('echo a\u3164b'), 'echo a<U+3164>b'],
  ['a Cyrillic letter', bash('\u0435cho b'), '<U+0435>cho b'],
  ['a Cyrillic word that reads as a Latin one', bash('./\u0441\u043e\u0440.sh'), './<U+0441><U+043E><U+0440>.sh'],
  ['CR', bash('echo a # \rb'), 'echo a # <U+000D>b'],
  ['a line end in a path', write('a\nin src/main.ts'), '.agents/a<U+000A>in src/main.ts'],
  ['written content', write('a', 'a\u202eb'), 'a<U+202E>b'],
  ['arguments of an MCP server', mcp('a\u2067b'), '"text": "a<U+2067>b"'],
  ['a URL', fetchUrl('https://g\u0456thub.com/'), 'https://g<U+0456>thub.com/'],
  ['a label of an option', question('No\u202eseY'), 'No<U+202E>seY'],
  ['a goal', goal('test\u2028it'), 'test<U+2028>it'],
  ['a task', task('look\u2066at'), 'look<U+2066>at'],
])('marks %s', async (_, call, shown) => {
  await ask(call);
  await expect.poll(() => card().innerText()).toContain(shown);
  // The call above the card in the conversation looks the same.
  expect(await page.getByRole('main').innerText()).not.toMatch(
    /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\u00a0\u3164\u0435\u0456]/u,
  );
});

it.each<[string, Call, string]>([
  ['Hebrew', bash('git commit -m "שלום, עולם"; ls'), 'git commit -m "שלום, עולם"; ls'],
  ['Persian with its joiners', bash('echo می\u200cخواهم'), 'echo می\u200cخواهم'],
  ['emoji with joiners', bash('echo 👩‍👩‍👧 ❤️ 1️⃣ 👍🏽'), 'echo 👩‍👩‍👧 ❤️ 1️⃣ 👍🏽'],
  ['Cyrillic and Greek words', bash('echo привет Ελλάδα'), 'echo привет Ελλάδα'],
  ['Russian words of look-alikes', bash('echo "вместе со мной"'), 'echo "вместе со мной"'],
  ['units', bash('echo "Δx in μs"'), 'echo "Δx in μs"'],
  ['CRLF', write('a', 'one\r\ntwo\r\n'), 'one\ntwo'],
  ['Han next to Latin', bash('echo 日本語text'), 'echo 日本語text'],
  ['a here-document', bash('cat <<EOF\n\tone\n\n\n\ttwo  three\nEOF'), 'cat <<EOF\n\tone\n\n\n\ttwo  three\nEOF'],
  ['arguments of an MCP server', mcp('שלום "x"'), JSON.stringify('שלום "x"')],
  ['a path', write('日本語/привет.md'), '.agents/日本語/привет.md'],
  ['a label of an option', question('Да, 👩‍💻'), 'Да, 👩‍💻'],
])('leaves %s unmarked', async (_, call, shown) => {
  await ask(call);
  await expect.poll(() => card().innerText()).toContain(shown);
  expect(await card().locator('mark').count()).toBe(0);
  if (call.name !== 'AskUserQuestion') {
    const approve = card().getByRole('button', { name: 'Approve', exact: true });
    await expect.poll(() => approve.isEnabled()).toBe(true);
  }
});

it('marks hidden characters of a diff, and leaves its tabs and Hebrew unmarked', async () => {
  const path = '.agents/old';
  const new_string = `new\u200b\n\tשלום\n${'long\n'.repeat(60)}`;
  await ask({ name: 'Read', args: { path } }, { name: 'Edit', args: { path, old_string: OLD, new_string } });
  await card().getByText('new<U+200B>').waitFor({ state: 'visible' });
  expect(await card().innerText()).toContain('\tשלום');
  expect(await card().locator('mark').count()).toBe(1);
  await card().getByText('63 lines').waitFor({ state: 'visible' });
});

const planCard = () => page.getByRole('group', { name: 'Plan', exact: true });

/** Opens a session on the page whose model presents this plan, and waits for its card. */
async function askPlan(text: string, options: { label: string }[] = []) {
  const { model } = built.base;
  const earlier = model.requests.length;
  session = await built.newSession();
  model.enqueue({ text: 'I plan.' });
  await built.ok('POST', `/sessions/${session}/profile`, { agent_config: { plan_mode: true } });
  await built.prompt(session, 'plan it');
  const planFile = () =>
    /only the plan file: ([^\s\\]+)/.exec(JSON.stringify(model.requests.slice(earlier).at(-1)?.body) ?? '')?.[1] ?? '';
  await expect.poll(planFile).not.toBe('');
  await writeFile(planFile(), text);
  model.enqueue({ calls: [{ name: 'ExitPlanMode', args: options.length > 0 ? { options } : {} }] });
  await built.prompt(session, 'show it');
  await page.goto(`${built.server.url}/#/s/${session}`);
  await planCard().waitFor({ state: 'visible' });
}

it('marks hidden characters of a plan and of its options, those of character references too', async () => {
  const plan =
    '# Move\n\n1. Lo\u200bok\n2. Run `a\u2067b`, שלום\n\nThen&#x202e;go [o\u2060n](https://x.test/)\n\n```sh\nls\u00ad\n```\n';
  await askPlan(plan, [{ label: 'Fa\u202est' }, { label: 'Thorough' }]);
  const shown = ['Lo<U+200B>ok', 'a<U+2067>b', 'שלום', 'Then<U+202E>go', 'o<U+2060>n', 'ls<U+00AD>', 'Fa<U+202E>st'];
  for (const text of [...shown, '10 lines']) {
    await planCard().getByText(text).waitFor({ state: 'visible' });
  }
  expect(await planCard().locator('mark').count()).toBe(6);
});

/** Evaluates to the characters of a single line from left to right, in their visual order. */
const drawnIn = (selector: string) => `(() => {
  const element = document.querySelector(${JSON.stringify(selector)});
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const characters = [];
  while (texts.nextNode()) {
    for (const [at, character] of [...texts.currentNode.data].entries()) {
      const range = document.createRange();
      range.setStart(texts.currentNode, at);
      range.setEnd(texts.currentNode, at + 1);
      characters.push({ character, left: range.getBoundingClientRect().left });
    }
  }
  return characters.sort((a, b) => a.left - b.left).map(({ character }) => character).join('');
})()`;
const reversed = (text: string) => [...text].toReversed().join('');

it.each([
  [
    'git status \u2067; touch x \u2066# docs \u2069\u2069',
    'git status <U+2067>; touch x <U+2066># docs <U+2069><U+2069>',
  ],
  ['echo א ; rm 1 # ב', 'echo א ; rm 1 # ב'],
  ['echo "א" ; # "ב"', 'echo "א" ; # "ב"'],
  ['echo \u0800 ; # \u0801', 'echo \u0800 ; # \u0801'],
  ['git commit -m "שלום עולם"; ls', `git commit -m "${reversed('שלום עולם')}"; ls`],
  ['echo مرحبا | sh', `echo ${reversed('مرحبا')} | sh`],
])('draws %j from left to right, right-to-left words alone in their own direction', async (command, drawn) => {
  await ask(bash(command));
  await card().locator('pre').waitFor({ state: 'visible' });
  expect(await page.evaluate(drawnIn('[aria-label^="Approval:"] pre'))).toBe(drawn);
});

it.each([
  ['Run א 1 # ב', 'p', 'Run א 1 # ב'],
  ['- echo "א" ; 1 "ב"', 'li', 'echo "א" ; 1 "ב"'],
  ['אז `א 1 # ב`', 'code', 'א 1 # ב'],
  ['```sh\nrm א 1 # ב\n```', 'pre', 'rm א 1 # ב\n'],
])('draws plan %j from left to right', async (plan, element, drawn) => {
  await askPlan(plan);
  expect(await page.evaluate(drawnIn(`[aria-label="Plan"] .what ${element}`))).toBe(drawn);
});

it('draws an Arabic plan from right to left, its names from left to right', async () => {
  const [read, once] = ['اقرأ', 'مرة'];
  await askPlan(`# ${read}\n\n1. ${read} README.md (${once})\n2. ${read} \`npm test\`\n\n${read} a.ts, ${once}!`);
  const drawn = (element: string) => page.evaluate(drawnIn(`[aria-label="Plan"] .what ${element}`));
  expect(await drawn('h1')).toBe(reversed(read));
  expect(await drawn('li')).toBe(`)${reversed(once)}( README.md ${reversed(read)}`);
  expect(await drawn('li + li')).toBe(`npm test ${reversed(read)}`);
  expect(await drawn('p')).toBe(`!${reversed(once)} ,a.ts ${reversed(read)}`);
  expect(await planCard().locator('mark').count()).toBe(0);
});

it('marks the escapes in the heading of an approval, as those in its command', async () => {
  await ask(bash('echo \u2067a'));
  await card().locator('pre').waitFor({ state: 'visible' });
  expect(await card().locator('header mark').allInnerTexts()).toEqual(['<U+2067>']);
  expect(await card().locator('.what mark').allInnerTexts()).toEqual(['<U+2067>']);
});

it('draws a command that spells an escape as text', async () => {
  await ask(bash('echo "<U+2067>"'));
  expect(await card().locator('pre').innerText()).toBe('echo "<U+2067>"');
  expect(await card().locator('.what mark').count()).toBe(0);
});
