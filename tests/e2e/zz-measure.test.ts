import { execFileSync } from 'node:child_process';
import { test } from 'vitest';
import { useBuiltServer } from '#support/built-server.ts';
import { launchBrowser, openPage } from '#support/browser.ts';
const built = useBuiltServer(undefined, { per: 'file' });
/** CPU seconds of all chromium below this process, alive and waited for. */
function cpu(name: string) {
  const rows = execFileSync('ps', ['-eo', 'pid,ppid,cputimes,comm'], { encoding: 'utf8' }).trim().split('\n').slice(1).map((l) => l.trim().split(/\s+/));
  const kids = new Map<number, number[]>();
  for (const r of rows) kids.set(Number(r[1]), [...(kids.get(Number(r[1])) ?? []), Number(r[0])]);
  let total = 0;
  const { readFileSync } = require('node:fs');
  const walk = (p: number) => { for (const k of kids.get(p) ?? []) { try { const s = readFileSync(`/proc/${k}/stat`, 'utf8'); const f = s.slice(s.lastIndexOf(')') + 2).split(' '); const c = s.slice(s.indexOf('(') + 1, s.lastIndexOf(')')); if (c.includes(name)) total += f.slice(11, 15).reduce((a: number, x: string) => a + Number(x), 0); } catch {} walk(k); } };
  walk(process.pid);
  return total / 100;
}
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
test('measure', async () => {
  let t = cpu('chrom'); let w = Date.now();
  const note = (what: string) => { const n = cpu('chrom'); console.log(what, 'chromium cpu', (n - t).toFixed(2), 'wall', Date.now() - w); t = n; w = Date.now(); };
  const browser = await launchBrowser();
  note('launch');
  for (let i = 0; i < 4; i++) {
    const o = await openPage(browser, built.server);
    await o.page.getByRole('main').getByRole('button', { name: 'New session' }).waitFor();
    note('open');
    const s = await built.newSession();
    await o.page.goto(`${built.server.url}/#/s/${s}`);
    await o.page.getByRole('textbox', { name: 'Prompt' }).waitFor();
    note('session');
    for (let k = 0; k < 2; k++) {
      const s2 = await built.newSession();
      await o.page.goto(`${built.server.url}/#/s/${s2}`);
      await o.page.getByRole('textbox', { name: 'Prompt' }).waitFor();
      note('another session');
      built.base.model.enqueue({ calls: [{ name: 'Bash', args: { command: 'touch a && rm b' } }] });
      await o.page.getByRole('textbox', { name: 'Prompt' }).fill('go');
      await o.page.getByRole('textbox', { name: 'Prompt' }).press('Enter');
      await o.page.getByRole('group', { name: /^Approval:/ }).waitFor();
      note('card');
    }
    await o.page.reload();
    await o.page.getByRole('group', { name: /^Approval:/ }).waitFor();
    note('reload');
    await o.page.context().close();
    note('close');
  }
  await browser.close();
});
