import { type Actor, defineActor, Failure } from '@troupe/core';
import { createTestSystem, type Probe, ProbeError } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const probes = suite('probe');

interface LedgerProtocol {
  record(entry: { readonly cents: number; readonly by?: string }): void;
  close(): void;
  total(): number | Failure<'closed'>;
}
const Ledger: Actor<LedgerProtocol> = defineActor.of<LedgerProtocol>()('ledger', {
  handlers: { record: () => undefined, close: () => undefined, total: () => 0 },
});

/** A probe that has received two records and a close. */
async function recorded(): Promise<Probe<typeof Ledger>> {
  await using world = createTestSystem();
  const probe = world.probe(Ledger, { name: 'ledger' });
  probe.ref.tell.record({ cents: 5 });
  probe.ref.tell.record({ cents: 6, by: 'ann' });
  probe.ref.tell.close();
  await world.settle();
  return probe;
}

function errorOf(run: () => unknown): ProbeError {
  try {
    run();
  } catch (error) {
    assert.instance(error, ProbeError);
    return error as ProbeError;
  }
  return assert.unreachable('did not throw') as never;
}

probes('a probe records messages by name, and all of them in order', async () => {
  const probe = await recorded();
  assert.equal(probe.received.record, [{ cents: 5 }, { cents: 6, by: 'ann' }]);
  assert.equal(probe.received.total, []);
  assert.equal(
    probe.messages.map(({ message }) => message),
    ['record', 'record', 'close'],
  );
});

probes('`expect` takes the oldest message not yet expected', async () => {
  const probe = await recorded();
  probe.expect.record({ cents: 5 });
  probe.expect.record({ cents: 6, by: 'ann' });
  probe.expect.close();
  probe.expectNone();
});

probes('a payload that differs is an error with the difference, and stays unexpected', async () => {
  const probe = await recorded();
  const error = errorOf(() => probe.expect.record({ cents: 7 }));
  assert.is(error.code, 'ERR_TEST_PROBE');
  assert.match(error.message, /^probe of ledger: record: /);
  assert.match(error.message, /^\+\s+cents: 5$/m);
  assert.match(error.message, /^-\s+cents: 7$/m);
  assert.equal([error.actual, error.expected], [{ cents: 5 }, { cents: 7 }]);
  probe.expect.record({ cents: 5 });
});

probes('a message that differs, one that is missing and one too many are errors that name them', async () => {
  const probe = await recorded();
  assert.is(
    errorOf(() => probe.expect.close()).message,
    'probe of ledger: expected close(), received record({ cents: 5 })',
  );
  probe.expect.record({ cents: 5 });
  assert.is(
    errorOf(() => probe.expectNone()).message,
    "probe of ledger: expected no more messages, received record({ cents: 6, by: 'ann' }), close()",
  );
  probe.fish.close();
  assert.is(
    errorOf(() => probe.expect.close()).message,
    'probe of ledger: expected close(), received nothing more; settle the world first',
  );
});

probes('`fish` skips to a message that matches, and returns its payload', async () => {
  const probe = await recorded();
  assert.equal(
    probe.fish.record(({ cents }) => cents > 5),
    { cents: 6, by: 'ann' },
  );
  probe.expect.close();
  const error = errorOf(() => probe.fish.record(() => true));
  assert.is(error.message, 'probe of ledger: no record that matches; received nothing');
});

probes('`fish` that finds nothing lists the messages and skips none', async () => {
  const probe = await recorded();
  const error = errorOf(() => probe.fish.record(({ cents }) => cents > 6));
  assert.match(
    error.message,
    /no record that matches; received record\(\{ cents: 5 \}\), record\(.*\), close\(\)$/,
  );
  probe.expect.record({ cents: 5 });
});

probes('`answer` replies to the asks that wait and to later ones, until the next answer', async () => {
  await using world = createTestSystem();
  const probe = world.probe(Ledger);
  const waiting = [probe.ref.ask.total(), probe.ref.ask.total()];
  await world.settle();
  probe.answer.total(7);
  assert.equal(await Promise.all(waiting), [7, 7]);
  assert.is(await world.ask(probe.ref).total(), 7);
  probe.answer.total(new Failure('closed', undefined));
  assert.equal(await world.ask(probe.ref).total(), new Failure('closed', undefined));
});

probes('a probe has the name it is given', async () => {
  const probe = await recorded();
  assert.is(probe.ref.path, '/ledger');
});

probes.run();
