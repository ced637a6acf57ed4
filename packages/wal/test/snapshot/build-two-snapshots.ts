// Builds two snapshots of the log in a directory with one builder, and does not close it.

import { writeSync } from 'node:fs';
import { ThreadSnapshotBuilder } from '#src/snapshot/node-thread-snapshot-builder.js';

const NEVER_IDLE = { idleMs: 3_600_000 };

const [dir = '', module = ''] = process.argv.slice(2);
const builder = new ThreadSnapshotBuilder(dir, { module, export: 'failingFold' }, NEVER_IDLE);
build('first', () => build('second', () => undefined));

function build(name: string, then: () => void): void {
  builder.build({ lsn: 1, tempName: name }, (error) => {
    writeSync(1, `${error?.message ?? name}\n`);
    then();
  });
}
