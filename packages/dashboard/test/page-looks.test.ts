// timeout: 300s, needs: chromium
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { goTo, openBrowser, openPage } from './browser.js';
import { GatewayRig } from './gateway-rig.js';

const looks = suite('looks of the page');
/** A folder for pictures of every page; without it none are made. */
const pictures = process.env['TROUPE_PICTURES'];

/** Names of users are as long as they like. */
const LONG = 'accounting.settle-invoices-of-the-month';

/** Every kind of page: its path, its heading, the name of its picture, and a text that is there when it is complete. */
type Shown = readonly [path: string, heading: string, picture: string, text: string | RegExp];

looks('every page fits a telephone, in light and dark', async () => {
  await using rig = await GatewayRig.start();
  const waiting = await rig.submit('idle.job', { to: 'ann' });
  await rig.submit(LONG, 1, '?runAfter=1h&orderKey=of-a-customer-with-a-long-name');
  for (let n = 0; n < 3; n += 1) await rig.submit('later.job', n, '?runAfter=1h&tag=nightly&priority=7');
  const done = await rig.submit('sample.count', 5, '?streaming=response');
  const dead = await rig.submit('sample.fail', { page: 12, tags: ['a', 'b'] });
  const running = await rig.submit('sample.slow', { user: { name: 'ann' }, pages: [1, 2, 3] });
  const fed = await rig.submit('sample.chat', 1, '?fed=true');
  await rig.post(`/api/jobs/${fed}/feed`, { item: 'hello there' });
  await rig.get(`/api/jobs/${dead}/result?within=10s`);
  await rig.post('/api/schedules/nightly', { exec: 'sample.echo', cron: '0 3 * * *', zone: 'Europe/Berlin' });
  await rig.post('/api/schedules/accounts-of-every-department-of-the-company', {
    exec: LONG,
    everyMs: 60_000,
  });
  const zone = 'America/Argentina/Buenos_Aires';
  const halfAYearAhead = ((new Date().getMonth() + 6) % 12) + 1;
  await rig.post('/api/schedules/yearly', { exec: LONG, cron: `0 0 1 ${halfAYearAhead} *`, zone });
  await rig.post('/api/queues/sample.shout/pause', undefined);
  await rig.get(`/api/jobs/${done}/result?within=10s`);
  await showPages(rig, [
    ['', 'Overview', 'overview', 'Jobs by name'],
    ['jobs', 'Jobs', 'jobs', done],
    [`jobs/${done}`, 'sample.count', 'job-done', 'Output'],
    [`jobs/${dead}`, 'sample.fail', 'job-dead', 'Input'],
    [`jobs/${running}`, 'sample.slow', 'job-running', '40 % page 12'],
    [`jobs/${fed}`, 'sample.chat', 'job-fed', '1 item, 1 taken'],
    [`jobs/${waiting}`, 'idle.job', 'job-waiting', /No worker serves it/],
    ['jobs?state=dead', 'Jobs', 'jobs-dead', dead],
    ['queues', 'Queues', 'queues', 'Figures'],
    ['dead-letters', 'Dead letters', 'dead-letters', /it never works/],
    ['schedules', 'Schedules', 'schedules', /in \d{2,3} d/],
    ['workers', 'Workers', 'workers', 'alive'],
    ['actors', 'Actors', 'actors', 'Recent messages'],
    ['storage', 'Storage', 'storage', 'Bounded tables'],
    ['audit', 'Audit', 'audit', 'schedule-set'],
  ]);
});

looks('a page without content says the next step, and fits a telephone too', async () => {
  await using rig = await GatewayRig.start();
  await showPages(rig, [
    ['', 'Overview', 'empty-overview', 'no job was submitted yet'],
    ['jobs', 'Jobs', 'empty-jobs', 'No job yet'],
    ['jobs?key=none', 'Jobs', 'empty-search', 'No job fits all of these'],
    ['queues', 'Queues', 'empty-queues', 'No queue has jobs'],
    ['dead-letters', 'Dead letters', 'empty-dead-letters', 'No dead letters'],
    ['schedules', 'Schedules', 'empty-schedules', 'No schedule yet'],
    ['audit', 'Audit', 'empty-audit', 'Nothing was changed yet'],
    [`jobs/none-1`, 'No such job', 'job-unknown', 'not an id of this leader'],
  ]);
});

looks('a page that asks for a token, and one without workers, fit a telephone', async () => {
  const token = 'a-long-enough-token';
  await using rig = await GatewayRig.start({ tokens: [{ name: 'ann', token, roles: ['operate'] }] });
  const browser = await openBrowser();
  try {
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 390],
    ] as const) {
      const { page } = await openPage(browser, rig.url, { colorScheme, viewport: { width, height: 800 } });
      const picture = (name: string): string => `${name}-${colorScheme}-${width === 390 ? 'phone' : 'wide'}`;
      await page.getByLabel('Token').waitFor();
      await assertLooks(page, picture('sign-in'));
      await page.getByLabel('Token').fill(token);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      await hideWorkers(page);
      await goTo(page, 'workers', 'Workers');
      await page.getByText('No worker is connected').waitFor();
      await assertLooks(page, picture('empty-workers'));
      await page.close();
    }
  } finally {
    await browser.close();
  }
});

/** The worker of the rig is in its process. */
async function hideWorkers(page: Page): Promise<void> {
  const overview = await page.evaluate(async () => (await fetch('/api/overview')).json());
  const body = `event: overview\ndata: ${JSON.stringify({ ...overview, workers: [] })}\n\n`;
  await page.route('**/api/live*', (route) => route.fulfill({ contentType: 'text/event-stream', body }));
  await page.reload();
}

async function assertLooks(page: Page, picture: string): Promise<void> {
  assert.equal(await accessibilityFaults(page), [], picture);
  await assertFits(page, picture);
}

/** In both colours and widths: no serious fault of accessibility, nothing wider than the screen; pictures where asked for. */
async function showPages(rig: GatewayRig, shown: readonly Shown[]): Promise<void> {
  const browser = await openBrowser();
  try {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [name, width] of [
        ['wide', 1280],
        ['phone', 390],
      ] as const) {
        const { page } = await openPage(browser, rig.url, { colorScheme, viewport: { width, height: 800 } });
        for (const [path, heading, picture, text] of shown) {
          await goTo(page, path, heading);
          await page.getByText('live', { exact: true }).waitFor();
          await page.getByText(text).first().waitFor();
          // Each colour and each width once: colours do not depend on the width.
          if ((colorScheme === 'light') === (name === 'wide'))
            assert.equal(await accessibilityFaults(page), [], `${path} in ${colorScheme}`);
          await assertFits(page, `${picture}-${colorScheme}-${name}`);
        }
        await page.close();
      }
    }
  } finally {
    await browser.close();
  }
}

/** Neither the page nor a table in it is wider than its place. */
async function assertFits(page: Page, picture: string): Promise<void> {
  const wide = await page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('.scroll')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map((element) => element.getAttribute('aria-label') ?? 'the page'),
  );
  assert.equal(wide, [], `${picture} has scroll bars`);
  if (pictures !== undefined)
    await page.screenshot({ path: join(pictures, `${picture}.png`), fullPage: true });
}

/** Serious faults that axe-core finds. Its source is evaluated: the page allows no foreign script. */
async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { axe: checker } = window as unknown as { axe: typeof import('axe-core') };
    const { violations } = await checker.run();
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`);
  });
}

looks.run();
