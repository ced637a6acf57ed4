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

/** A page whose errors and foreign requests are collected. */
export async function openPage(
  browser: Browser,
  url: string,
  options: Parameters<Browser['newPage']>[0] = {},
): Promise<{ readonly page: Page; readonly problems: string[] }> {
  const page = await browser.newPage(options);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => {
    const target = request.url();
    if (!target.startsWith(url) && !target.startsWith('data:')) problems.push(`request to ${target}`);
  });
  await page.goto(url);
  return { page, problems };
}
