// timeout: 300s
// Every job of the jobs suites has a unique payload and a unique result, and a wrong result refuses the row.
import { readFile } from 'node:fs/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { refusalReason } from '#src/runner/row-summary.js';
import { isResultOf, type Payload, resultOf } from '#src/suites/jobs/payload.js';
import { PayloadFiles } from '#src/suites/jobs/payload-files.js';
import { PayloadSource } from '#src/suites/jobs/payload-source.js';
import { runLoad } from '#src/suites/jobs/run-load.js';
import { suite as overTcp } from '#src/suites/jobs.suite.js';
import { runWindow } from '#src/suites/jobs-embedded/embedded-setup.js';
import { suite as inProcess } from '#src/suites/jobs-embedded.suite.js';
import { caseWith, processOf } from '../case-builders.js';

const jobs = suite('jobs-results');
const count = 20_000;

for (const bytes of [100, 1_000]) {
  jobs(`payloads of ${bytes} bytes have that size as JSON and are unique`, () => {
    const payloads = new PayloadSource(bytes);
    const texts = new Set<string>();
    const seen = new Set<string>();
    for (let i = 0; i < count; i += 1) {
      const payload = payloads.next();
      const json = JSON.stringify(payload);
      assert.is(Buffer.byteLength(json), bytes);
      seen.add(json);
      texts.add(payload.text);
    }
    assert.equal([seen.size, texts.size], [count, count]);
  });
}

jobs('results are unique, and each matches its own payload only', () => {
  const payloads = new PayloadSource(100);
  const all = Array.from({ length: count }, () => payloads.next());
  const results = all.map((payload) => JSON.parse(JSON.stringify(resultOf(payload))));
  assert.is(new Set(results.map(({ sum }) => sum)).size > count * 0.999, true);
  for (const [i, payload] of all.entries()) {
    assert.ok(isResultOf(payload, results[i]));
    assert.not(isResultOf(payload, results[(i + 1) % count]));
  }
  const [first] = all as [Payload];
  const wrong = [null, undefined, 'text', {}, { id: first.id }, { ...resultOf(first), sum: 0 }];
  for (const one of wrong) assert.not(isResultOf(first, one));
});

jobs('a result depends on the text from its first to its last character', () => {
  const { id, text } = new PayloadSource(1_000).next();
  const { sum } = resultOf({ id, text });
  assert.is.not(resultOf({ id, text: `~${text.slice(1)}` }).sum, sum);
  assert.is.not(resultOf({ id, text: `${text.slice(0, -1)}~` }).sum, sum);
});

const benchmark = caseWith({ unit: 'jobs' });

for (const burst of [1, 16]) {
  const load = { jobs: 500, bytes: 100, outstanding: 64, burst };
  const driven = (run: (payload: Payload) => Promise<unknown>) => {
    const payloads = new PayloadSource(load.bytes);
    return runLoad(run, () => payloads.next(), load);
  };

  jobs(`correct results complete the row (bursts of ${burst})`, async () => {
    const seen = new Set<string>();
    const measured = await driven(async (payload) => {
      seen.add(JSON.stringify(payload));
      return resultOf(payload);
    });
    assert.is(refusalReason(benchmark, [processOf(measured)]), undefined);
    assert.is(seen.size, load.jobs);
  });

  jobs(`one wrong result refuses the row (bursts of ${burst})`, async () => {
    let started = 0;
    const measured = await driven(async (payload) => {
      started += 1;
      return started === 100 ? resultOf({ ...payload, id: payload.id + 1 }) : resultOf(payload);
    });
    assert.match(refusalReason(benchmark, [processOf(measured)]) ?? '', 'completed 499 of 500 jobs');
  });

  jobs(`a system that returns \`null\` completes nothing (bursts of ${burst})`, async () => {
    assert.is((await driven(async () => null)).completed, 0);
  });
}

jobs('a wrong result in an embedded row does not count as completed', async () => {
  const correct = async (payload: Payload) => resultOf(payload);
  assert.is(await runWindow(100, 10, new PayloadSource(100), correct), 100);
  let ended = 0;
  const oneWrong = async (payload: Payload) => {
    ended += 1;
    return ended === 7 ? null : resultOf(payload);
  };
  assert.is(await runWindow(100, 10, new PayloadSource(100), oneWrong), 99);
});

jobs('a payload file contains the id of the next job', async () => {
  const files = await PayloadFiles.open(2, new PayloadSource(5_000));
  const seen = new Set<number>();
  for (const caller of [0, 1, 1, 0]) {
    const payload = files.next(caller);
    const text = await readFile(files.pathOf(caller), 'utf8');
    assert.is(text.length, 5_000);
    assert.equal(JSON.parse(text), payload);
    seen.add(payload.id);
  }
  assert.is(seen.size, 4);
  await files.close();
});

/** Rows that are quick at a small scale. */
const quick = [
  'latency',
  'payload-1k',
  'one-slot',
  'fleet',
  'run-200',
  'submit-1000',
  'backlog-1000',
  'restart',
];

for (const tested of [overTcp, inProcess]) {
  for (const one of tested.cases.filter((row) => quick.includes(row.benchmark))) {
    jobs(`${tested.name} ${one.benchmark} has correct results from Troupe`, async () => {
      const trial = await one.prepare({ system: 'troupe', scale: 0.002, round: 0, adapters: {} });
      const { attempted, completed } = await trial.run();
      await trial.close?.();
      assert.is(completed, attempted);
    });
  }
}

jobs.run();
