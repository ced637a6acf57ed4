// The order of storage calls, from a trace of the workload.
import type { StorageCall } from '@troupe/wal/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Workload } from './workload.js';

const order = suite('storage call order');

function traced(visit: (call: StorageCall, workload: Workload) => void): void {
  const workload = new Workload({
    fault: (call) => {
      visit(call, workload);
      return undefined;
    },
  });
  workload.run();
}

order('a file is synced before its rename, and its name is durable before CURRENT lists it', () => {
  let renames = 0;
  traced((call, { harness }) => {
    if (call.operation !== 'rename') return;
    const [from = '', to = ''] = call.name.split(' ');
    if (to.endsWith('.tmp')) return; // a spare segment, whose content is not used
    assert.ok(harness.storage.disk.file(from)?.isSynced, `${from} is renamed to ${to} before it was synced`);
    if (to === 'CURRENT') {
      const notDurable = harness.storage.disk
        .unsyncedNames()
        .filter(({ added }) => added !== undefined && added !== from && !added.endsWith('.tmp'));
      assert.equal(notDurable, [], `CURRENT is replaced while names are not durable`);
    }
    renames += 1;
  });
  assert.ok(renames > 15, `${renames} renames`);
});

order('a file is removed or truncated only after the CURRENT that drops it is durable', () => {
  let removals = 0;
  traced((call, { harness }) => {
    if (call.operation !== 'unlink' && call.operation !== 'truncate') return;
    if (call.name.endsWith('.tmp')) return;
    const pending = harness.storage.disk.unsyncedNames().some(({ added }) => added === 'CURRENT');
    assert.not.ok(pending, `${call.operation} ${call.name} before CURRENT is durable`);
    removals += 1;
  });
  assert.ok(removals > 3, `${removals} removals`);
});

order('a batch is written after the sync of the previous one, and no page is written twice', () => {
  const written = new Map<string, number>();
  let unsynced = '';
  traced((call) => {
    if (!call.name.endsWith('.seg')) return;
    if (call.operation === 'sync' && call.name === unsynced) unsynced = '';
    if (call.operation !== 'write') return;
    assert.is(unsynced, '', `${call.name} at ${call.position} is written before ${unsynced} was synced`);
    unsynced = call.name;
    // The first write may follow a batch that recovery copied.
    const end = written.get(call.name) ?? call.position;
    assert.ok(
      call.position >= 4_096 && call.position % 4_096 === 0,
      'the header page is never written again',
    );
    assert.is(call.position, end, 'batches follow each other');
    assert.is(call.bytes % 4_096, 0, 'and fill whole pages');
    written.set(call.name, call.position + call.bytes);
  });
  assert.ok(written.size >= 5);
});

order('no record is acknowledged between the write and the sync of its batch', () => {
  let atWrite: number | undefined;
  let batches = 0;
  const workload = new Workload({
    fault: (call) => {
      if (call.operation === 'write' && call.name.endsWith('.seg')) atWrite = workload.acknowledged;
      return undefined;
    },
    afterCall: (call) => {
      if (call.operation !== 'sync' || !call.name.endsWith('.seg') || atWrite === undefined) return;
      assert.is(workload.acknowledged, atWrite, `acknowledged before ${call.name} was synced`);
      atWrite = undefined;
      batches += 1;
    },
  });
  workload.run();
  assert.ok(batches > 15, `${batches} batches`);
});

order.run();
