import { type Browser, chromium, type Page } from 'playwright-core';

/** Debian's Chromium, which makes no request of its own. */
export async function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** Longer than any machine needs: a text that has not come by then does not come. */
const WAIT_MS = 100_000;
/** So much later than asked for do timers and paints of a slow page come. */
const SLOW_MS = 400;

interface PageOptions {
  /** A page on a machine that is busy: its timers and paints, and so its effects, come late. */
  readonly isSlow?: boolean;
}

/** A page whose errors and foreign requests are collected. */
export async function openPage(
  browser: Browser,
  url: string,
  { isSlow = false, ...options }: PageOptions & Parameters<Browser['newPage']>[0] = {},
): Promise<{ readonly page: Page; readonly problems: string[] }> {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(WAIT_MS);
  const problems: string[] = [];
  const { origin } = new URL(url);
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => {
    const target = new URL(request.url());
    if (target.origin !== origin && target.protocol !== 'data:') problems.push(`request to ${target.href}`);
  });
  if (isSlow) await page.addInitScript(slowDown, SLOW_MS);
  await page.goto(url);
  return { page, problems };
}

/** Goes to another address of the page, without loading it again. Resolves when its heading is there. */
export async function goTo(page: Page, path: string, heading: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#/${path}`);
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
}

/** By the navigation: problems have links of the same names. */
export async function openView(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
}

/** Runs in the page, before its script. */
function slowDown(laterMs: number): void {
  const { setTimeout: set } = window;
  const later = (callback: () => void, waitMs = 0): number => set(callback, waitMs + laterMs);
  window.setTimeout = later as typeof window.setTimeout;
  window.requestAnimationFrame = (callback) => later(() => callback(performance.now()));
}
