// timeout: 200s, needs: chromium
import type { Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { goTo, openBrowser, openPage, openView } from './browser.js';
import { GatewayRig } from './gateway-rig.js';

const details = suite('details of the page');

/** The fields of an overview that make a problem; the event of the problem and the page that its link leads to. */
const PROBLEMS: readonly (readonly [fields: object, text: RegExp, page: string])[] = [
  [
    { refusing: [{ code: 'ERR_QUEUE_FULL', problem: 'too many jobs' }] },
    /Submits are refused: too many jobs/,
    'storage',
  ],
  [{ diskLow: true }, /disk of the leader has too little space/, 'storage'],
  [
    { execs: [{ exec: 'a.b', queued: 3, running: 0, oldestMs: 5_000, queuedByPriority: {}, unserved: 3 }] },
    /No worker takes a\.b: 3 wait, the oldest for 5 s/,
    'jobs?state=queued&exec=a.b',
  ],
  [
    { execs: [{ exec: 'a.b', queued: 3, running: 1, oldestMs: 180_000, queuedByPriority: {}, unserved: 0 }] },
    /oldest job of a\.b waits for 3 min, with 3 in its queue/,
    'queues',
  ],
  [
    { workers: [worker({ liveness: 'blocked', blockedMs: 4_000 })] },
    /Worker w~1 is blocked for 4 s/,
    'workers',
  ],
  [
    { workers: [worker({ liveness: 'gone', running: 2 })] },
    /Worker w~1 is gone, with 2 attempts running/,
    'workers',
  ],
  [
    { nearQuotas: [{ identity: 'ann', table: 'jobs', used: 9, max: 10 }] },
    /ann use 9 of 10 jobs/,
    'jobs?tenant=ann',
  ],
  [{ clockStepMs: -90_000 }, /clock of the leader’s machine is 90 s behind/, 'schedules'],
];

details('each problem is named with its remedy and a link to the page that shows more', async () => {
  await using rig = await GatewayRig.start();
  const overview = (await (await rig.get('/api/overview')).json()) as {
    counts: { dead: number };
    log: object;
  };
  const browser = await openBrowser();
  try {
    const { page } = await openPage(browser, rig.url);
    await page.getByText('All is well').waitFor();
    for (const [fields, text, target] of PROBLEMS) {
      await showLooks(page, [{ ...overview, ...fields }]);
      await assertProblem(page, text, target);
    }
    const { log, counts } = overview;
    await showLooks(page, [{ ...overview, log: { ...log, failedSnapshots: 2 } }]);
    await assertProblem(page, /2 snapshots failed/, 'storage');
    await showLooks(page, [overview, { ...overview, counts: { ...counts, dead: counts.dead + 4 } }]);
    await assertProblem(page, /4 more dead letters within/, 'dead-letters');
  } finally {
    await browser.close();
  }
});

details('with the keyboard alone a job is found, opened and cancelled', async () => {
  await using rig = await GatewayRig.start();
  const id = await rig.submit('later.job', 1, '?runAfter=1h');
  const browser = await openBrowser();
  try {
    const { page } = await openPage(browser, rig.url);
    await page.getByText('All is well').waitFor();
    await tabTo(page, 'Skip to the content');
    await page.keyboard.press('Enter');
    assert.is(await page.evaluate(() => document.activeElement?.tagName), 'MAIN');
    await page.reload();
    await tabTo(page, 'Jobs');
    await page.keyboard.press('Enter');
    await tabTo(page, id);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'later.job' }).waitFor();
    assert.match(await page.title(), new RegExp(id));
    await tabTo(page, 'Cancel');
    await page.keyboard.press('Enter');
    await page.locator('h1').getByText('cancelled').waitFor();
  } finally {
    await browser.close();
  }
});

details(
  'on a telephone the current page is in sight, and the buttons of a row are on the screen',
  async () => {
    await using rig = await GatewayRig.start();
    await rig.post('/api/schedules/often', { exec: 'sample.echo', everyMs: 3_600_000 });
    const browser = await openBrowser();
    try {
      const { page } = await openPage(browser, rig.url, { viewport: { width: 390, height: 800 } });
      await goTo(page, 'schedules', 'Schedules');
      const parts = [
        page.getByRole('navigation').getByRole('link', { name: 'Schedules' }),
        page.getByRole('button', { name: 'Remove' }),
      ];
      for (const part of parts) {
        const box = await part.boundingBox();
        assert.ok(box !== null && box.x >= 0 && box.x + box.width <= 390, JSON.stringify(box));
      }
      // The rows are blocks there, and still a table for a screen reader.
      await page.getByRole('table').getByRole('row', { name: /often/ }).getByRole('cell').first().waitFor();
    } finally {
      await browser.close();
    }
  },
);

details('a schedule shows its next ten times, is paused and removed', async () => {
  await using rig = await GatewayRig.start();
  await rig.post('/api/schedules/nightly', { exec: 'sample.echo', cron: '0 3 * * *', zone: 'UTC' });
  const browser = await openBrowser();
  try {
    const { page } = await openPage(browser, rig.url);
    await openView(page, 'Schedules');
    const row = page.getByRole('row', { name: /nightly/ });
    await row.getByText(/^in \d+ (h|min|s)/).click();
    assert.is(await row.locator('details > div').count(), 9, 'beside the first of ten');
    await row.getByRole('button', { name: 'Pause' }).click();
    await row.getByText('paused').waitFor();
    page.on('dialog', (dialog) => void dialog.accept());
    await row.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No schedule yet').waitFor();
  } finally {
    await browser.close();
  }
});

details('views follow their answers over one connection, and request nothing again', async () => {
  await using rig = await GatewayRig.start();
  const id = await rig.submit('idle.job', 1);
  const browser = await openBrowser();
  try {
    const { page } = await openPage(browser, rig.url);
    const requests: string[] = [];
    await openView(page, 'Queues');
    const row = page.getByRole('row', { name: /idle\/idle\.job/ });
    await row.getByText('open').waitFor();
    page.on('request', (request) => requests.push(request.url()));
    await rig.client.queue('idle.job').pause();
    await row.getByText('paused').waitFor();
    await rig.client.queue('idle.job').resume();
    await row.getByText('open').waitFor();
    assert.equal(requests, []);
    await goTo(page, `jobs/${id}`, 'idle.job');
    await page.getByText(/No worker serves it/).waitFor();
    await page.locator('.tree').waitFor();
    requests.length = 0;
    await rig.client.cancelWhere({ exec: 'idle.job' });
    await page.locator('h1').getByText('cancelled').waitFor();
    // The explanation is followed no more: one connection takes the place of the other.
    for (const url of requests) assert.match(url, /\/api\/(live|jobs\/[^/]+\/stream)/);
    assert.is(await page.getByText(/No worker serves it/).count(), 0);
  } finally {
    await browser.close();
  }
});

details('a dead letter is queued again with another input, and deleted', async () => {
  await using rig = await GatewayRig.start();
  const [first, second] = [await rig.submit('sample.fail', 'broken'), await rig.submit('sample.fail', 2)];
  for (const id of [first, second]) await rig.get(`/api/jobs/${id}/result?within=10s`);
  const browser = await openBrowser();
  try {
    const { page, problems } = await openPage(browser, `${rig.url}/#/jobs/${first}`);
    await page.getByRole('button', { name: 'Edit and queue again' }).click();
    const input = page.getByLabel('New input');
    assert.is(await input.inputValue(), '"broken"');
    await input.fill('"mended');
    await page.getByRole('button', { name: 'Queue again with this input' }).click();
    await page.getByRole('alert').getByText('It is not JSON').waitFor();
    await input.fill('"mended"');
    await page.getByRole('button', { name: 'Queue again with this input' }).click();
    await page.locator('h1').getByText('done').waitFor();
    await page.locator('.tree').getByText('"mended"').waitFor();
    await goTo(page, `jobs/${second}`, 'sample.fail');
    page.on('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'No such job' }).waitFor();
    assert.equal(problems, []);
  } finally {
    await browser.close();
  }
});

details('an input with hidden fields is not edited', async () => {
  await using rig = await GatewayRig.start({ redact: ['secret'] });
  const id = await rig.submit('sample.fail', { secret: 1, open: 2 });
  await rig.get(`/api/jobs/${id}/result?within=10s`);
  const browser = await openBrowser();
  try {
    const { page } = await openPage(browser, `${rig.url}/#/jobs/${id}`);
    await page.getByText('Fields are hidden here').waitFor();
    assert.is(await page.getByRole('button', { name: 'Edit and queue again' }).count(), 0);
  } finally {
    await browser.close();
  }
});

details('the latest lines of a stream stay in sight, unless its reader has scrolled up', async () => {
  await using rig = await GatewayRig.start();
  const id = await rig.submit('sample.steps', 80, '?streaming=response');
  const browser = await openBrowser();
  try {
    const { page } = await openPage(browser, `${rig.url}/#/jobs/${id}`);
    const stream = page.getByRole('log', { name: 'Stream' });
    const below = (): Promise<number> =>
      stream.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
    for (let step = 1; step <= 60; step += 1) rig.step();
    await stream.getByText('part 60').waitFor();
    assert.ok((await below()) < 10, `${await below()} px below`);
    await stream.evaluate((box) => box.scrollTo(0, 0));
    // The event of a scroll comes with the next frame.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    for (let step = 61; step <= 80; step += 1) rig.step();
    await stream.getByText('part 80').waitFor();
    assert.is(await stream.evaluate((box) => box.scrollTop), 0);
  } finally {
    await browser.close();
  }
});

details('acts on jobs lead to them, and a schedule whose name looks like an id does not', async () => {
  await using rig = await GatewayRig.start();
  await rig.post('/api/schedules/every-hour', { exec: 'sample.echo', everyMs: 3_600_000 });
  const id = await rig.submit('later.job', 1, '?runAfter=1h');
  await rig.post(`/api/jobs/${id}/cancel`, { reason: 'wrong' });
  const browser = await openBrowser();
  try {
    const { page } = await openPage(browser, `${rig.url}/#/audit`);
    await page.getByRole('link', { name: id }).waitFor();
    await page.getByRole('cell', { name: 'every-hour', exact: true }).waitFor();
    assert.is(await page.getByRole('link', { name: 'every-hour' }).count(), 0);
  } finally {
    await browser.close();
  }
});

details('acts are shown page by page to the earlier ones', async () => {
  await using rig = await GatewayRig.start();
  for (let n = 0; n < 60; n += 1) {
    await rig.client.queue('idle.job').pause();
    await rig.client.queue('idle.job').resume();
  }
  const browser = await openBrowser();
  try {
    const { page } = await openPage(browser, `${rig.url}/#/audit`);
    const cell = (no: string) => page.getByRole('cell', { name: no, exact: true });
    await cell('120').waitFor();
    assert.is(await page.locator('tbody tr').count(), 100);
    await page.getByRole('button', { name: 'Earlier' }).click();
    await cell('20').waitFor();
    await cell('1').waitFor();
    assert.is(await page.locator('tbody tr').count(), 20);
    await page.getByRole('button', { name: 'Latest' }).click();
    await cell('120').waitFor();
  } finally {
    await browser.close();
  }
});

details('an output that is too large is a file', async () => {
  await using rig = await GatewayRig.start();
  const id = await rig.submit('sample.echo', 'x'.repeat(300_000));
  await rig.get(`/api/jobs/${id}/result?within=10s`);
  const browser = await openBrowser();
  try {
    const { page } = await openPage(browser, `${rig.url}/#/jobs/${id}`);
    await page.getByText('It is too large to be shown here').waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'download' }).click(),
    ]);
    assert.ok(file.suggestedFilename() !== '');
  } finally {
    await browser.close();
  }
});

function worker(fields: object): object {
  const rest = { overrun: 0, slots: 4, credit: 4, cpu: 0, lagMs: 0, running: 0, blockedMs: 0 };
  return { worker: 'w~1', ...rest, ...fields };
}

/** The page sees these looks in place of those of its leader. */
async function showLooks(page: Page, looks: readonly object[]): Promise<void> {
  const body = looks.map((look) => `event: overview\ndata: ${JSON.stringify(look)}\n\n`).join('');
  await page.unroute('**/api/live*');
  await page.route('**/api/live*', (route) => route.fulfill({ contentType: 'text/event-stream', body }));
  await page.reload();
}

async function assertProblem(page: Page, text: RegExp, target: string): Promise<void> {
  const list = page.getByRole('list', { name: 'Problems' });
  const item = list.getByRole('listitem').filter({ hasText: text });
  await item.waitFor();
  const said = (await item.textContent()) ?? '';
  assert.ok(said.replace(text, '').length > 20, `${said} has a remedy`);
  assert.is(await item.getByRole('link').getAttribute('href'), `#/${target}`);
}

/** Presses Tab until the element with this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  await page.getByText(name, { exact: true }).first().waitFor({ state: 'attached' });
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate(() => document.activeElement?.textContent)) === name) return;
  }
  assert.unreachable(`${name} cannot be reached`);
}

details.run();
