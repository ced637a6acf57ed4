// timeout: 400s, needs: chromium
import type { Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { goTo, openBrowser, openPage, openView } from './browser.js';
import { GatewayRig } from './gateway-rig.js';

const pages = suite('page of the dashboard');
const TOKEN = 'a-long-enough-token';

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
    await openView(page, 'Jobs');
    await page.getByLabel('State').selectOption('dead');
    await page.getByRole('link', { name: id }).click();
    const attempts = page.getByRole('list', { name: 'Attempts' });
    await attempts.getByText('failed for good').waitFor();
    await attempts.getByText('NonRetryableError: it never works').first().waitFor();
    await attempts.getByText('Error: no paper').first().waitFor();
    assert.match(page.url(), new RegExp(`#/jobs/${id}$`));
    await page.goBack();
    await page.getByLabel(`choose ${id}`).check();
    const asked = acceptDialogs(page);
    await page.getByRole('button', { name: 'Queue 1 again' }).click();
    await page.getByText('1 of 1 queued again').waitFor();
    assert.equal(asked, ['Queue 1 dead letter again?']);
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
    await page.locator('.tree').getByText('onerror').waitFor();
    assert.match(await page.title(), /– Troupe$/);
    assert.is(await stream.count(), 0, 'chunks of the job before are gone');
    assert.equal(problems, []);
  } finally {
    await browser.close();
  }
});

pages('a stream is watched while its job runs, to its end', async () => {
  await using rig = await GatewayRig.start();
  const id = await rig.submit('sample.steps', 3, '?streaming=response');
  const browser = await openBrowser();
  try {
    const { page, problems } = await openPage(browser, `${rig.url}/#/jobs/${id}`);
    const stream = page.getByRole('log', { name: 'Stream' });
    for (const part of ['part 1', 'part 2', 'part 3']) {
      await page.locator('h1').getByText('running').waitFor();
      assert.is(await stream.getByText(part).count(), 0);
      rig.step();
      await stream.getByText(part).waitFor();
    }
    await page.locator('h1').getByText('done').waitFor();
    assert.match((await stream.textContent()) ?? '', /part 1.*part 2.*part 3/s);
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
      page.getByRole('link', { name: 'download' }).click(),
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
      await openView(page, 'Jobs');
      await page.getByLabel('Key', { exact: true }).fill('first');
      await page.getByRole('button', { name: 'Search' }).click();
      await page.getByRole('link', { name: other }).waitFor({ state: 'detached' });
      await page.getByRole('link', { name: tagged }).waitFor();
      assert.match(page.url(), /key=first/);
      assert.is(await page.locator('tbody tr').count(), 1);
      await page.getByRole('link', { name: tagged }).click();
      await page.getByText(/It is due in \d+ min/).waitFor();
      await openView(page, 'Queues');
      const row = page.getByRole('row', { name: /idle\/idle\.job/ });
      await row.getByRole('button', { name: 'Pause' }).click();
      await row.getByText('paused').waitFor();
      await openView(page, 'Overview');
      await page.getByText('Queue idle/idle.job is paused: no job begins.').waitFor();
      await openView(page, 'Queues');
      await row.getByRole('button', { name: 'Resume' }).click();
      await row.getByText('open').waitFor();
      await openView(page, 'Dead letters');
      const asked = acceptDialogs(page);
      await page.getByRole('button', { name: 'Queue all again' }).click();
      await page.getByText('2 of 2 queued again').waitFor();
      assert.equal(asked, ['Queue 2 dead letters of sample.fail again?']);
      await openView(page, 'Audit');
      await page.getByRole('cell', { name: 'redrive' }).first().waitFor();
      await openView(page, 'Workers');
      await page.getByRole('button', { name: 'Quiet' }).click();
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      const held = await rig.submit('sample.slow', 1);
      await goTo(page, `jobs/${held}`, 'sample.slow');
      await page.getByText(/No worker serves it: 1 connected, 1 that could are quiet\./).waitFor();
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
    await page.locator('.tree').getByText('"other"').waitFor();
    const answered = page.waitForResponse(`**/api/jobs/${late}/input`);
    release();
    await (await answered).finished();
    await page.locator('.tree').getByText('"other"').waitFor();
    assert.is(await page.getByText('"late"').count(), 0);
  } finally {
    await browser.close();
  }
});

pages('a problem says the remedy, and leads to its jobs, which are cancelled together', async () => {
  await using rig = await GatewayRig.start();
  const ids = [await rig.submit('idle.job', 1), await rig.submit('idle.job', 2)];
  await rig.submit('later.job', 3, '?runAfter=1h');
  const browser = await openBrowser();
  try {
    const { page, problems } = await openPage(browser, rig.url);
    const list = page.getByRole('list', { name: 'Problems' });
    await list.getByText(/No worker takes idle\.job: 2 wait, the oldest for/).waitFor();
    await list.getByText('npx troupe worker handlers.mjs').waitFor();
    assert.is(await list.getByText('later.job').count(), 0, 'a job that is not due needs no worker');
    await list.getByRole('link', { name: 'Its jobs' }).click();
    await page.getByRole('button', { name: 'Choose this page (2)' }).click();
    const asked = acceptDialogs(page);
    await page.getByRole('button', { name: 'Cancel 2' }).click();
    await page.getByText('No job fits all of these').waitFor();
    assert.equal(asked, ['Cancel 2 jobs?']);
    for (const id of ids) {
      const view = (await (await rig.get(`/api/jobs/${id}`)).json()) as { state: string };
      assert.is(view.state, 'cancelled');
    }
    await page.getByText('npx troupe ls --state queued --exec idle.job').waitFor();
    await openView(page, 'Storage');
    await page.getByText(/fsync included/).waitFor();
    assert.equal(problems, []);
  } finally {
    await browser.close();
  }
});

pages('all dead letters of a search are queued again after a question that has their number', async () => {
  await using rig = await GatewayRig.start();
  for (let n = 0; n < 3; n += 1)
    await rig.get(`/api/jobs/${await rig.submit('sample.fail', n)}/result?within=10s`);
  const browser = await openBrowser();
  try {
    const { page, problems } = await openPage(browser, `${rig.url}/#/jobs?state=dead&error=never`);
    const asked: string[] = [];
    let late = '';
    page.on('dialog', async (dialog) => {
      asked.push(dialog.message());
      late = await rig.submit('sample.fail', 'while the question stands');
      await rig.get(`/api/jobs/${late}/result?within=10s`);
      await dialog.accept();
    });
    await page.getByRole('button', { name: 'Queue all that fit again' }).click();
    await page.getByText('3 of 3 queued again').waitFor();
    assert.equal(asked, ['Queue 3 dead letters again?']);
    const { attempt } = (await (await rig.get(`/api/jobs/${late}`)).json()) as { attempt: number };
    assert.is(attempt, 1, 'a dead letter that came after the count stays as it is');
    assert.equal(problems, []);
  } finally {
    await browser.close();
  }
});

pages('all jobs of a search are cancelled after a question that has their number', async () => {
  await using rig = await GatewayRig.start();
  // More than a page shows.
  for (let n = 0; n < 60; n += 1) await rig.submit('later.job', n, '?runAfter=1h');
  const browser = await openBrowser();
  try {
    const { page, problems } = await openPage(browser, `${rig.url}/#/jobs?state=queued&exec=later.job`);
    const asked = acceptDialogs(page);
    await page.getByRole('button', { name: 'Cancel all that fit' }).click();
    await page.getByText('60 of 60 cancelled').waitFor();
    assert.equal(asked, ['Cancel 60 jobs?']);
    await page.getByText('No job fits all of these').waitFor();
    assert.equal(problems, []);
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
    await rig.client.queue('idle.job').pause();
    await page.goto(`${rig.url}/#/queues`);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.goto(`${rig.url}/#/audit`);
    await page.getByRole('row', { name: 'gateway/ann queue-open' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    await page.reload();
    await page.getByLabel('Token').waitFor();
  } finally {
    await browser.close();
  }
});

/** The texts of the questions that were answered with yes. */
function acceptDialogs(page: Page): readonly string[] {
  const asked: string[] = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.message());
    void dialog.accept();
  });
  return asked;
}

/** The job, once its second attempt has ended. */
async function deadAgain(rig: GatewayRig, id: string): Promise<{ failures: number }> {
  for (;;) {
    const answer = await rig.get(`/api/jobs/${id}`);
    const view = (await answer.json()) as { attempt: number; failures: number; state: string };
    if (view.attempt === 2 && view.state === 'dead') return view;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

pages.run();
