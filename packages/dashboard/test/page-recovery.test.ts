// timeout: 120s, needs: chromium
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serveDashboard } from '@troupe/dashboard';
import { connectClient, defineJob } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openBrowser, openPage, openView } from './browser.js';
import { anything } from './gateway-rig.js';

const recovery = suite('a page over the end of its leader');
const bin = fileURLToPath(new URL('../../cli/bin/troupe.mjs', import.meta.url));
const Later = defineJob('later.job', { input: anything, output: anything });

/** A leader as a process of its own. Resolves with its port when it serves. */
async function startLeader(dir: string, port: string): Promise<{ child: ChildProcess; port: string }> {
  const child = spawn(process.execPath, [bin, 'leader', '--port', port, '--dir', dir, '--json']);
  const line = await new Promise<string>((resolve) =>
    child.stdout.once('data', (chunk: Buffer) => resolve(String(chunk))),
  );
  return { child, port: String((JSON.parse(line) as { address: string }).address.split(':').at(-1)) };
}

recovery('a page shows that its leader was killed, and is live again with the next one', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'troupe-page-'));
  let leader = await startLeader(dir, '0');
  const client = await connectClient({ address: { port: Number(leader.port) }, name: 'gateway' });
  const server = await serveDashboard({ client, port: 0 });
  const browser = await openBrowser();
  try {
    await client.submit(Later, 1, { runAfterMs: 3_600_000 });
    const { page, problems } = await openPage(browser, server.url);
    const queued = page.locator('.card', { hasText: 'Queued' });
    await queued.getByText('1', { exact: true }).waitFor();
    const ended = new Promise((resolve) => leader.child.once('exit', resolve));
    leader.child.kill('SIGKILL');
    await ended;
    await page.getByText('the leader is away, connecting …').waitFor();
    assert.is(await queued.getByText('1', { exact: true }).count(), 1, 'the last figures stay');
    await page.getByRole('list', { name: 'Problems' }).getByText('The leader does not answer').waitFor();
    assert.is(await page.getByText('All is well').count(), 0);
    await openView(page, 'Queues');
    await page.getByText('Waiting for the leader').waitFor();
    await openView(page, 'Overview');
    const health = (): Promise<Response> => fetch(`${server.url}/api/health`);
    const away = await health();
    assert.equal([away.status, await away.json()], [503, { status: 'away' }]);
    leader = await startLeader(dir, leader.port);
    await page.getByText('live', { exact: true }).waitFor();
    assert.is((await health()).status, 200);
    await client.submit(Later, 2, { runAfterMs: 3_600_000 });
    await queued.getByText('2', { exact: true }).waitFor();
    assert.is(await page.getByText('The leader does not answer').count(), 0);
    assert.equal(problems, []);
  } finally {
    await browser.close();
    await server.close();
    client.close();
    leader.child.kill('SIGKILL');
    await rm(dir, { recursive: true, force: true });
  }
});

/** A leader that serves its page itself. */
async function startServing(dir: string, port: string): Promise<{ child: ChildProcess; url: string }> {
  const words = ['leader', '--port', '0', '--dir', dir, '--http', port, '--json'];
  const child = spawn(process.execPath, [bin, ...words]);
  let text = '';
  const url = await new Promise<string>((resolve) =>
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const match = /"kind":"http".*"url":"([^"]+)"/.exec(text);
      if (match?.[1] !== undefined) resolve(match[1]);
    }),
  );
  return { child, url };
}

recovery('a page that is served by the leader itself is live again with the next one', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'troupe-page-'));
  let leader = await startServing(dir, '0');
  const { url } = leader;
  const submit = async (): Promise<void> => {
    const answer = await fetch(`${url}/api/execs/later.job/jobs?runAfter=1h`, { method: 'POST', body: '1' });
    assert.is(answer.status, 201);
  };
  const browser = await openBrowser();
  try {
    await submit();
    const { page, problems } = await openPage(browser, url);
    const queued = page.locator('.card', { hasText: 'Queued' });
    await queued.getByText('1', { exact: true }).waitFor();
    const ended = new Promise((resolve) => leader.child.once('exit', resolve));
    leader.child.kill('SIGKILL');
    await ended;
    await page.getByText('the leader is away, connecting …').waitFor();
    leader = await startServing(dir, new URL(url).port);
    await page.getByText('live', { exact: true }).waitFor();
    await submit();
    await queued.getByText('2', { exact: true }).waitFor();
    assert.equal(problems, []);
  } finally {
    await browser.close();
    leader.child.kill('SIGKILL');
    await rm(dir, { recursive: true, force: true });
  }
});

recovery.run();
