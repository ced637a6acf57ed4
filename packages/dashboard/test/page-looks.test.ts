// timeout: 300s, needs: chromium
import { mkdir } from 'node:fs/promises';
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

/** Every kind of page: its path, its heading, the name of its picture, and a text that is there when it is complete. */
type Shown = readonly [path: string, heading: string, picture: string, text: string | RegExp];

looks('every page fits a telephone, in light and dark', async () => {
  await using rig = await GatewayRig.start();
  const waiting = await rig.submit('idle.job', { to: 'ann' });
  for (let n = 0; n < 3; n += 1) await rig.submit('later.job', n, '?runAfter=1h&tag=nightly&priority=7');
  const done = await rig.submit('sample.count', 5, '?streaming=response');
  const dead = await rig.submit('sample.fail', { page: 12, tags: ['a', 'b'] });
  const running = await rig.submit('sample.slow', { user: { name: 'ann' }, pages: [1, 2, 3] });
  const fed = await rig.submit('sample.chat', 1, '?fed=true');
  await rig.post(`/api/jobs/${fed}/feed`, { item: 'hello there' });
  await rig.get(`/api/jobs/${dead}/result?within=10s`);
  await rig.post('/api/schedules/nightly', { exec: 'sample.echo', cron: '0 3 * * *', zone: 'Europe/Berlin' });
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
    ['schedules', 'Schedules', 'schedules', 'nightly'],
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

/** In both colours and widths: no serious fault of accessibility, nothing wider than the screen; pictures where asked for. */
async function showPages(rig: GatewayRig, shown: readonly Shown[]): Promise<void> {
  const browser = await openBrowser();
  try {
    if (pictures !== undefined) await mkdir(pictures, { recursive: true });
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
          const isWide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
          assert.not(isWide, `${path} at ${width} has a scroll bar`);
          const file = `${picture}-${colorScheme}-${name}.png`;
          if (pictures !== undefined) await page.screenshot({ path: join(pictures, file), fullPage: true });
        }
        await page.close();
      }
    }
  } finally {
    await browser.close();
  }
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
