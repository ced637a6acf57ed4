// B6, B11: the order of calls itself, read from a trace: no rename of a file that was not synced, nothing
// removed before its replacement is durable, no acknowledgement before the sync, no batch before the one
// before it was synced.
import type { StorageCall } from '@troupe/wal/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Workload } from './workload.js';

const order = suite('order of calls');

function traced(visit: (call: StorageCall, workload: Workload) => void): void {
  const workload = new Workload({
    fault: (call) => {
      visit(call, workload);
      return undefined;
    },
  });
  workload.run();
}

order(
  'only synced files are renamed into place, and only listed in CURRENT when their names are durable',
  () => {
    let renames = 0;
    traced((call, { harness }) => {
      if (call.operation !== 'rename') return;
      const [from = '', to = ''] = call.name.split(' ');
      if (to.endsWith('.tmp')) return; // a spare changes its name; nobody relies on its content
      assert.ok(
        harness.storage.disk.file(from)?.isSynced,
        `${from} is renamed to ${to} before it was synced`,
      );
      if (to === 'CURRENT') {
        const loose = harness.storage.disk
          .unsyncedNames()
          .filter(({ added }) => added !== undefined && added !== from && !added.endsWith('.tmp'));
        assert.equal(loose, [], `CURRENT is replaced while names are not durable`);
      }
      renames += 1;
    });
    assert.ok(renames > 15, `${renames} renames`);
  },
);

order('nothing is removed or cut while the manifest that lets go of it could still be undone', () => {
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

order('a batch is written only when the one before it was synced, and no page twice', () => {
  const written = new Map<string, number>();
  let unsynced = '';
  traced((call) => {
    if (!call.name.endsWith('.seg')) return;
    if (call.operation === 'sync' && call.name === unsynced) unsynced = '';
    if (call.operation !== 'write') return;
    assert.is(unsynced, '', `${call.name} at ${call.position} is written before ${unsynced} was synced`);
    unsynced = call.name;
    // The first one may stand behind a batch that recovery copied.
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

order('nobody is told of a batch between its write and the end of its sync', () => {
  let atWrite: number | undefined;
  let batches = 0;
  const workload = new Workload({
    fault: (call) => {
      if (call.operation === 'write' && call.name.endsWith('.seg')) atWrite = workload.acknowledged;
      return undefined;
    },
    afterCall: (call) => {
      if (call.operation !== 'sync' || !call.name.endsWith('.seg') || atWrite === undefined) return;
      assert.is(workload.acknowledged, atWrite, `somebody was told before ${call.name} was synced`);
      atWrite = undefined;
      batches += 1;
    },
  });
  workload.run();
  assert.ok(batches > 15, `${batches} batches`);
});

order.run();
