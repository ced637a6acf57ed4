import { type LogEntry, type LogLevel, nodeHost } from '@troupe/core';
import type { WalEvent } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { logWalEvent } from '#src/journal/wal-event-log.js';
import { connectClient, startLeader } from '../checked-processes.js';
import { Echo } from '../remote/sample-jobs.js';
import { tempFolder } from '../temp-folder.js';

const events = suite('log lines of log events');

const damage = { file: 'wal-0000000001.seg', offset: 4_096, reason: 'body crc is wrong' };

/** Each event, and its line; without a level there is none. */
const LINES: readonly (readonly [WalEvent, LogLevel | undefined, RegExp])[] = [
  [{ kind: 'torn-tail', file: 'wal-1.seg', offset: 8_192, bytes: 30 }, 'warn', /30 bytes .* quarantine/],
  [{ kind: 'lock-unavailable', reason: 'no flock' }, 'warn', /no lock of the kernel \(no flock\)/],
  [{ kind: 'network-file-system', fileSystem: 'nfs' }, 'warn', /network file system \(nfs\)/],
  [{ kind: 'snapshot-fallback', reason: 'crc' }, 'warn', /newest snapshot is damaged.*crc/],
  [{ kind: 'sync-slow', ms: 1_200.4 }, 'warn', /disk is slow.* 1200 ms/],
  [{ kind: 'disk-low', freeBytes: 77, errno: undefined }, 'warn', /nearly full: 77 bytes free/],
  [{ kind: 'disk-low', freeBytes: undefined, errno: 'EMFILE' }, 'warn', /nearly full: EMFILE$/],
  [{ kind: 'disk-ok' }, 'warn', /space again/],
  [
    { kind: 'snapshot-failed', error: new Error('no room'), consecutiveFailures: 2 },
    'warn',
    /snapshot failed, 2 in succession: Error: no room/,
  ],
  [{ kind: 'scrub-damage', damage }, 'error', /wal-0000000001\.seg is damaged at byte 4096/],
  [{ kind: 'callback-threw', error: new Error('bug') }, 'error', /callback of the log threw: Error: bug/],
  [{ kind: 'snapshot-made', lsn: 1, bytes: 1, ms: 1 }, undefined, /^$/],
  [{ kind: 'scrub-finished', files: 1, bytes: 1 }, undefined, /^$/],
];

for (const [event, level, line] of LINES) {
  events(`${event.kind} is ${level === undefined ? 'no line' : `one line, ${level}`}`, () => {
    const logged: LogEntry[] = [];
    logWalEvent({ log: (entry) => void logged.push(entry) }, event);
    assert.equal(
      logged.map((entry) => [entry.level, entry.fields]),
      level === undefined ? [] : [[level, { wal: event.kind }]],
    );
    assert.match(logged[0]?.message ?? '', line);
  });
}

events('a leader whose snapshots fail warns of each, counts them, and goes on', async () => {
  await using folder = await tempFolder();
  const logged: LogEntry[] = [];
  await using leader = await startLeader({
    dir: folder.path,
    address: { port: 0 },
    host: { ...nodeHost, log: (entry) => void logged.push(entry) },
    wal: {
      snapshotEveryBytes: 65_536,
      snapshotBuilder: { build: (_request, done) => done(new Error('no room for it'), undefined as never) },
    },
    onFatal: (error) => {
      throw error;
    },
  });
  await using client = await connectClient({ address: leader.address });
  const failed = (): LogEntry[] => logged.filter(({ fields }) => fields['wal'] === 'snapshot-failed');
  for (let i = 0; failed().length === 0; i += 1) await client.submit(Echo, `${i} ${'x'.repeat(30_000)}`);
  assert.is(failed()[0]?.level, 'warn');
  assert.match(failed()[0]?.message ?? '', /^a snapshot failed, 1 in succession: .*no room for it/);
  await client.submit(Echo, 'after it');
  assert.ok((await client.overview()).log.failedSnapshots >= 1);
});

events.run();
