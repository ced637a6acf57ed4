import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const entries = suite('entries');

/** Prints the URL of every module that is loaded. */
const HOOKS = `
import { writeSync } from 'node:fs';
export async function load(url, context, next) {
  writeSync(1, url + '\\n');
  return next(url, context);
}`;

async function loadedBy(entry: string): Promise<string[]> {
  const script = `
    import { register } from 'node:module';
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(HOOKS)}));
    await import(${JSON.stringify(entry)});`;
  const args = ['--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
  return stdout.split('\n').filter((url) => url.startsWith('file:'));
}

function inFolder(urls: readonly string[], folder: RegExp): string[] {
  return urls.filter((url) => folder.test(url));
}

for (const entry of ['@troupe/jobs/client', '@troupe/jobs/worker']) {
  entries(`${entry} loads no log and no part of a leader`, async () => {
    const urls = await loadedBy(entry);
    assert.ok(urls.some((url) => url.includes('/jobs/dist/remote/')));
    const forbidden = /\/wal\/dist\/|\/jobs\/dist\/(leader|ledger|journal|server|embedded)\//;
    assert.equal(inFolder(urls, forbidden), []);
  });
}

entries(
  '@troupe/jobs/client loads no worker, @troupe/jobs/worker and @troupe/jobs/leader no client',
  async () => {
    assert.equal(inFolder(await loadedBy('@troupe/jobs/client'), /\/jobs\/dist\/(worker|heartbeat)\//), []);
    const client = /\/jobs\/dist\/client\//;
    assert.equal(inFolder(await loadedBy('@troupe/jobs/worker'), client), []);
    assert.equal(inFolder(await loadedBy('@troupe/jobs/leader'), client), []);
  },
);

entries('the root entry exports every name of the role entries', async () => {
  const root = await import('@troupe/jobs');
  const roles = await Promise.all([
    import('@troupe/jobs/client'),
    import('@troupe/jobs/worker'),
    import('@troupe/jobs/leader'),
  ]);
  for (const role of roles) {
    for (const [name, value] of Object.entries(role)) assert.is(root[name as keyof typeof root], value, name);
  }
});

entries.run();
