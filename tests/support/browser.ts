/** Drives a real browser on a server's page. */
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { PATIENCE_MS } from './patience.ts';

const EXECUTABLES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** Parts of the browser's window that are pages: each context would start a process for them. */
const WINDOW_PAGES = [
  'PreloadTopChromeWebUI',
  'TabSearch',
  'WebUIOmnibox',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
];
/** Features that Playwright disables too: the last list replaces its own. */
const UNSTABLE = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
];
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${[...WINDOW_PAGES, ...UNSTABLE].join(',')}`,
];

export interface OpenedPage {
  page: Page;
  /** Script and console errors, except those of requests that a test makes fail on purpose. */
  errors: string[];
  /** `METHOD /path` of every request so far. */
  requests: string[];
}

/** Starts the system's chromium, or the executable in `CHROMIUM_PATH`. */
export function launchBrowser(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM_PATH'] ?? EXECUTABLES.find((path) => existsSync(path));
  if (!executablePath) throw new Error(`No chromium found; install it or set CHROMIUM_PATH`);
  return chromium.launch({ executablePath, args: FLAGS });
}

/** Opens a server's page with its token. A request to any other origin is recorded as an error. */
export async function openPage(
  browser: Browser,
  server: { url: string; token: string },
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const errors: string[] = [];
  const requests: string[] = [];
  const { origin } = new URL(server.url);
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (
      message.type() === 'error' &&
      !/ERR_(CONNECTION|SOCKET_NOT_CONNECTED)|WebSocket connection/.test(message.text())
    )
      errors.push(message.text());
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    requests.push(`${request.method()} ${url.pathname}`);
    if (url.protocol.startsWith('http') && url.origin !== origin) errors.push(`request to ${url.origin}`);
  });
  await page.goto(`${server.url.replace(/\/$/, '')}/#token=${server.token}`);
  return { page, errors, requests };
}

/**
 * Call it a single time per file: `onOpen` receives the page of each test, opened on the server that an earlier
 * `beforeEach` has started. Errors of the page fail the test.
 */
export function usePage(
  server: () => { url: string; token: string },
  onOpen: (opened: OpenedPage) => void,
  options: BrowserContextOptions = {},
): void {
  let browser: Browser;
  let opened: OpenedPage;

  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  beforeEach(async () => {
    opened = await openPage(browser, server(), options);
    onOpen(opened);
  });
  afterEach(async () => {
    await opened.page.context().close();
    if (opened.errors.length > 0) throw new Error(opened.errors.join('\n'));
  });
}
