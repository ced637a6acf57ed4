import { nodeHost } from '@troupe/core';
import {
  type Client,
  connectClient,
  defineJob,
  embedded,
  handle,
  type JobOptions,
  startLeader,
  startWorker,
} from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { anything, aString } from './plain-schema.js';
import { tempFolder } from './temp-folder.js';

const options = suite('what is given to an entry point');

const echo = defineJob('text.echo', { input: anything, output: anything });
const echoes = handle(echo, (value) => value);
const address = { host: '127.0.0.1', port: 1 };

/** JavaScript passes what TypeScript refuses. */
type Loose = (given: never) => unknown;

async function refusal(call: () => unknown): Promise<string> {
  try {
    await call();
    return 'accepted';
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return `${code}: ${message}`;
  }
}

async function refused(entry: Loose, given: unknown, why: RegExp): Promise<void> {
  const text = await refusal(() => entry(given as never));
  assert.match(text, /^ERR_JOB_DEFINITION: /);
  assert.match(text, why);
}

options('a leader does not start with a limit or a time out of range', async () => {
  await using folder = await tempFolder();
  const { path: dir } = folder;
  for (const start of [embedded, startLeader] as Loose[]) {
    const onFatal = (): void => undefined;
    await refused(start, { dir, onFatal, limits: { jobMax: 5 } }, /limits\.jobMax: there is no such option/);
    await refused(
      start,
      { dir, onFatal, limits: { jobsMax: -1 } },
      /limits\.jobsMax: needed a whole number of at least 1, got -1/,
    );
    await refused(start, { dir, onFatal, limits: { payloadBytesMax: 0 } }, /limits\.payloadBytesMax: needed/);
    await refused(start, { dir, onFatal, times: { heartbeatMs: 0 } }, /times\.heartbeatMs: needed/);
    await refused(start, { dir, onFatal, limits: 5 }, /limits: needed an object, got 5/);
    await refused(start, undefined, /needed an object, got undefined/);
  }
  await refused(startLeader as Loose, { dir }, /onFatal: this option is required/);
  const withCompress = { dir, onFatal: () => undefined, compress: 'zip' };
  await refused(startLeader as Loose, withCompress, /compress: needed one of gzip, brotli, got "zip"/);
});

options('a worker and a client refuse missing and unknown options', async () => {
  const start = startWorker as Loose;
  const some = { address, name: 'w', handlers: [echoes] };
  await refused(start, { name: 'w', handlers: [] }, /address: this option is required/);
  await refused(start, { address, name: 'w' }, /handlers: this option is required/);
  await refused(start, { ...some, name: 'a b' }, /name: needed 1 to 100 letters/);
  await refused(start, { ...some, patterns: ['a..b'] }, /patterns\[0\]: .* got "a\.\.b"/);
  await refused(start, { ...some, handlers: [echo] }, /handlers\[0\]: .* handle\(job, run\)/);
  await refused(start, { ...some, compress: 'zip' }, /compress:/);
  const connect = connectClient as Loose;
  await refused(connect, {}, /address: this option is required/);
  await refused(connect, { address, name: 'a b' }, /name:/);
  await refused(handle as unknown as Loose, undefined, /handle: needs a job made by defineJob/);
});

options('wrong options beside an embedded leader reject only their own call', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const hire: Loose = (given) => app.worker(given);
  await refused(hire, {}, /handlers: this option is required/);
  await refused(hire, { handlers: [echoes], slots: -1 }, /slots:/);
  await refused(hire, { handlers: [echoes], slotz: 5 }, /slotz: there is no such option/);
  await refused(hire, { handlers: [echoes], name: 'a b' }, /name:/);
  await refused((given) => app.client(given), { name: 'a b' }, /name:/);
  app.worker({ handlers: [echoes], slots: undefined } as never);
  assert.is(await app.client().run(echo, 'still here'), 'still here');
});

options('a failed worker beside an embedded leader is restarted; the leader goes on', async () => {
  await using folder = await tempFolder();
  const logged: string[] = [];
  const host = { ...nodeHost, log: ({ message }: { readonly message: string }) => void logged.push(message) };
  await using app = await embedded({ dir: folder.path, host });
  app.worker({ handlers: [echoes] });
  type FailingWorker = { tell: { attemptEnded(ended: null): void } };
  const [worker] = (app as unknown as { workers: Map<FailingWorker, unknown> }).workers.keys();
  worker?.tell.attemptEnded(null);
  assert.is(await app.client().run(echo, 'still here'), 'still here');
  assert.match(logged.join('\n'), /worker.*attemptEnded/);
});

options('an option that is undefined has its default', async () => {
  const loose = { retry: { attempts: undefined }, limits: { runMs: undefined }, keep: { doneMs: undefined } };
  const given = { input: aString, output: aString, ...loose } as unknown as JobOptions<
    typeof aString,
    typeof aString
  >;
  const { policy } = defineJob('some.job', given);
  assert.equal([policy.retry.attempts, policy.limits.runMs, policy.keep.doneMs], [6, 600_000, 3_600_000]);
});

async function mistakesOf(client: Client): Promise<void> {
  const numbered = defineJob('text.numbered', { input: anything, output: anything, key: () => 5 as never });
  const circular: { self?: unknown } = {};
  circular.self = circular;
  const good = client.submit(echo, 'beside it');
  // Awaited below; a failure before that must not be hidden by this one.
  good.catch(() => undefined);
  const submit = (job: unknown, input: unknown) => (): unknown => client.submit(job as typeof echo, input);
  const cases: [() => unknown, RegExp][] = [
    [submit(numbered, 1), /the value of its key function: needed a text of 1 to 512 bytes, got 5/],
    [submit(echo, 5n), /its input cannot be written as JSON: .*BigInt/],
    [submit(echo, circular), /its input cannot be written as JSON: .*circular/],
    [submit(echo, () => 1), /its input cannot be written as JSON: function /],
    [submit(undefined, 1), /submit: needs a job made by defineJob, got undefined/],
    [submit({ exec: 'x' }, 1), /submit: needs a job made by defineJob, got an object with exec/],
  ];
  for (const [call, why] of cases) {
    const text = await refusal(call);
    assert.match(text, /^ERR_JOB_DEFINITION: /);
    assert.match(text, why);
  }
  assert.match(await refusal(() => client.open(echo, 5 as never)), /^ERR_JOB_FOREIGN: /);
  assert.ok((await good).id);
  assert.is(await client.run(echo, 'and after'), 'and after');
}

options('a submit that cannot be encoded is rejected; the client goes on', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  app.worker({ handlers: [echoes] });
  await mistakesOf(app.client());
});

options('over a socket, too, a submit that cannot be encoded is rejected', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({
    dir: folder.path,
    onFatal: (error) => assert.unreachable(error.message),
  });
  await using _worker = await startWorker({ address: leader.address, name: 'w', handlers: [echoes] });
  await using client = await connectClient({ address: leader.address });
  await mistakesOf(client);
});

options.run();
