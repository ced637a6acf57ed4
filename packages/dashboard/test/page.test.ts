// timeout: 400s, needs: chromium
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { goTo, openBrowser, openPage } from './browser.js';
import { GatewayRig } from './gateway-rig.js';

const pages = suite('page of the dashboard');
const TOKEN = 'a-long-enough-token';
/** A folder for pictures of every page; without it none are made. */
const pictures = process.env['TROUPE_PICTURES'];

pages('the overview is live, and nothing is requested from elsewhere', async () => {
  await using rig = await GatewayRig.start();
  const browser = await openBrowser();
  try {
    const { page, problems } = await openPage(browser, rig.url);
    await page.getByText('All is well').waitFor();
    for (let n = 0; n < 3; n += 1) await rig.submit('later.job', n, '?runAfter=1h');
    await page.locator('.card', { hasText: 'Queued' }).getByText('3', { exact: true }).waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    assert.equal(problems, []);
  } finally {
    await browser.close();
  }
});

pages('a dead letter is found, opened and queued again', async () => {
  await using rig = await GatewayRig.start();
  const id = await rig.submit('sample.fail', 1);
  await rig.get(`/api/jobs/${id}/result?within=10s`);
  const browser = await openBrowser();
  try {
    const { page, problems } = await openPage(browser, rig.url);
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.getByLabel('State').selectOption('dead');
    await page.getByRole('link', { name: id }).click();
    await page.getByText('it never works').first().waitFor();
    assert.match(page.url(), new RegExp(`#/jobs/${id}$`));
    await page.goBack();
    await page.getByLabel(`choose ${id}`).check();
    await page.getByRole('button', { name: 'Queue 1 again' }).click();
    const view = await deadAgain(rig, id);
    assert.is(view.failures, 1, 'it failed again, with fresh counts');
    assert.equal(problems, []);
  } finally {
    await browser.close();
  }
});

pages('chunks of a job are shown as they come, and hostile text is text', async () => {
  await using rig = await GatewayRig.start();
  const id = await rig.submit('sample.count', 5, '?streaming=response');
  const hostile = await rig.submit('sample.echo', '<img src=x onerror="document.title=1">');
  const browser = await openBrowser();
  try {
    const { page, problems } = await openPage(browser, `${rig.url}/#/jobs/${id}`);
    const stream = page.getByRole('log', { name: 'Stream' });
    await stream.getByText('5').waitFor();
    assert.is(await stream.textContent(), '1\n2\n3\n4\n5\n');
    await goTo(page, `jobs/${hostile}`, 'sample.echo');
    await page.getByText('onerror').waitFor();
    assert.is(await page.title(), 'Troupe');
    assert.is(await stream.count(), 0, 'chunks of the job before are gone');
    assert.equal(problems, []);
  } finally {
    await browser.close();
  }
});

pages('input, progress and log of a job are shown; a job is fed; actors have their tree', async () => {
  await using rig = await GatewayRig.start();
  const slow = await rig.submit('sample.slow', { user: { name: 'ann' }, pages: [1, 2, 3] });
  const chat = await rig.submit('sample.chat', 1, '?fed=true');
  const browser = await openBrowser();
  try {
    const { page, problems } = await openPage(browser, rig.url);
    await goTo(page, `jobs/${slow}`, 'sample.slow');
    await page.getByText('40 % page 12').waitFor();
    await page.getByText('read page 12').waitFor();
    await page.locator('.tree').getByText('"ann"').waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'file' }).click(),
    ]);
    assert.match(file.suggestedFilename(), /-input\.json$/);
    await goTo(page, `jobs/${chat}`, 'sample.chat');
    await page.getByLabel('Item').fill('hello there');
    await page.getByRole('button', { name: 'Feed', exact: true }).click();
    await page.getByText('heard "hello there"').waitFor();
    await page.getByRole('button', { name: 'End the feed' }).click();
    await page.locator('h1').getByText('done').waitFor();
    await goTo(page, 'actors', 'Actors');
    await page.getByRole('cell', { name: 'leader', exact: true }).waitFor();
    await page
      .getByText(/→ \/leader\.requestActors/)
      .first()
      .waitFor();
    assert.equal(problems, []);
  } finally {
    await browser.close();
  }
});

pages(
  'jobs are searched by the address, a queue is paused, a waiting job explained, a group driven again',
  async () => {
    await using rig = await GatewayRig.start();
    await rig.submit('idle.job', 1);
    const tagged = await rig.submit('later.job', 1, '?runAfter=1h&key=first');
    const other = await rig.submit('later.job', 2, '?runAfter=1h&key=second');
    for (let n = 0; n < 2; n += 1)
      await rig.get(`/api/jobs/${await rig.submit('sample.fail', n)}/result?within=10s`);
    const browser = await openBrowser();
    try {
      const { page, problems } = await openPage(browser, rig.url);
      await page.getByRole('link', { name: 'Jobs' }).click();
      await page.getByLabel('Key', { exact: true }).fill('first');
      await page.getByRole('button', { name: 'Search' }).click();
      await page.getByRole('link', { name: other }).waitFor({ state: 'detached' });
      await page.getByRole('link', { name: tagged }).waitFor();
      assert.match(page.url(), /key=first/);
      assert.is(await page.locator('tbody tr').count(), 1);
      await page.getByRole('link', { name: tagged }).click();
      await page.getByText(/It is due in \d+ min/).waitFor();
      await page.getByRole('link', { name: 'Queues' }).click();
      const row = page.getByRole('row', { name: /idle\/idle\.job/ });
      await row.getByRole('button', { name: 'Pause' }).click();
      await row.getByText('paused').waitFor();
      await row.getByRole('button', { name: 'Resume' }).click();
      await row.getByText('open').waitFor();
      await page.getByRole('link', { name: 'Dead letters' }).click();
      let asked = '';
      page.on('dialog', (dialog) => {
        asked = dialog.message();
        void dialog.accept();
      });
      await page.getByRole('button', { name: 'Queue all again' }).click();
      await page.getByText('2 of 2 queued again').waitFor();
      assert.is(asked, 'Queue 2 dead letters of sample.fail again?');
      await page.getByRole('link', { name: 'Audit' }).click();
      await page.getByRole('cell', { name: 'redrive' }).first().waitFor();
      await page.getByRole('link', { name: 'Workers' }).click();
      await page.getByRole('button', { name: 'Quiet' }).click();
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      assert.equal(problems, []);
    } finally {
      await browser.close();
    }
  },
);

pages('an address that changes before the effects of the first paint is shown', async () => {
  await using rig = await GatewayRig.start();
  const slow = await rig.submit('sample.slow', 1);
  const browser = await openBrowser();
  try {
    const { page } = await openPage(browser, rig.url, { isSlow: true });
    await goTo(page, `jobs/${slow}`, 'sample.slow');
    await page.getByText('40 % page 12').waitFor();
  } finally {
    await browser.close();
  }
});

pages('an answer that comes after the address has changed is not shown', async () => {
  await using rig = await GatewayRig.start();
  const [late, other] = [
    await rig.submit('later.job', 'late', '?runAfter=1h'),
    await rig.submit('later.job', 'other', '?runAfter=1h'),
  ];
  const browser = await openBrowser();
  try {
    const { page } = await openPage(browser, rig.url);
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const isAsked = new Promise<void>((resolve) => {
      void page.route(`**/api/jobs/${late}/input`, async (route) => {
        resolve();
        await released;
        await route.continue();
      });
    });
    await goTo(page, `jobs/${late}`, 'later.job');
    await isAsked;
    await goTo(page, `jobs/${other}`, 'later.job');
    await page.getByText('"other"').waitFor();
    const answered = page.waitForResponse(`**/api/jobs/${late}/input`);
    release();
    await (await answered).finished();
    await page.getByText('"other"').waitFor();
    assert.is(await page.getByText('"late"').count(), 0);
  } finally {
    await browser.close();
  }
});

pages('a page asks for a token where tokens are needed', async () => {
  await using rig = await GatewayRig.start({
    tokens: [{ name: 'ann', token: TOKEN, roles: ['operate'] }],
  });
  const browser = await openBrowser();
  try {
    const { page } = await openPage(browser, rig.url);
    await page.getByLabel('Token').fill('a-wrong-long-token');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('the token is not known').waitFor();
    await page.getByLabel('Token').fill(TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('All is well').waitFor();
    await page.reload();
    await page.getByText('All is well').waitFor();
  } finally {
    await browser.close();
  }
});

pages('every page fits a telephone, in light and dark', async () => {
  await using rig = await GatewayRig.start();
  for (let n = 0; n < 3; n += 1) await rig.submit('later.job', n, '?runAfter=1h');
  const id = await rig.submit('sample.count', 5, '?streaming=response');
  const dead = await rig.submit('sample.fail', 1);
  await rig.get(`/api/jobs/${dead}/result?within=10s`);
  await rig.post('/api/schedules/nightly', { exec: 'sample.echo', cron: '0 3 * * *', zone: 'Europe/Berlin' });
  await rig.get(`/api/jobs/${id}/result?within=10s`);
  const headings = [
    ['', 'Overview'],
    ['jobs', 'Jobs'],
    [`jobs/${id}`, 'sample.count'],
    ['queues', 'Queues'],
    ['dead-letters', 'Dead letters'],
    ['schedules', 'Schedules'],
    ['workers', 'Workers'],
    ['actors', 'Actors'],
    ['storage', 'Storage'],
    ['audit', 'Audit'],
  ] as const;
  const browser = await openBrowser();
  try {
    if (pictures !== undefined) await mkdir(pictures, { recursive: true });
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [name, width] of [
        ['wide', 1280],
        ['phone', 390],
      ] as const) {
        const { page } = await openPage(browser, rig.url, { colorScheme, viewport: { width, height: 800 } });
        for (const [path, heading] of headings) {
          await goTo(page, path, heading);
          await page.getByText('live', { exact: true }).waitFor();
          await page.waitForFunction(() => document.querySelector('.empty, main table, main dl') !== null);
          assert.equal(await accessibilityFaults(page), [], `${path} in ${colorScheme}`);
          const isWide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
          assert.not(isWide, `${path} at ${width} has a scroll bar`);
          const file = `${path.split('/').join('-').replace(id, 'one') || 'overview'}-${colorScheme}-${name}.png`;
          if (pictures !== undefined) await page.screenshot({ path: join(pictures, file) });
        }
        await page.close();
      }
    }
  } finally {
    await browser.close();
  }
});

/** The job, once its second attempt has ended. */
async function deadAgain(rig: GatewayRig, id: string): Promise<{ failures: number }> {
  for (;;) {
    const answer = await rig.get(`/api/jobs/${id}`);
    const view = (await answer.json()) as { attempt: number; failures: number; state: string };
    if (view.attempt === 2 && view.state === 'dead') return view;
    await new Promise((resolve) => setTimeout(resolve, 20));
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

pages.run();
