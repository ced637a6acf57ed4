// The thread of one snapshot.
import { parentPort, workerData } from 'node:worker_threads';
import { connect } from '../log/log-database.js';
import type { SnapshotAnswer, SnapshotTask } from './node-snapshot-thread.js';
import { writeSnapshot } from './write-snapshot.js';

const { epoch, ...database } = workerData as SnapshotTask;
const sql = connect(database);
const answer: SnapshotAnswer = await writeSnapshot(sql, database.schema, epoch).then(
  (lsn) => ({ lsn }),
  (error: Error) => ({ problem: error.message }),
);
await sql.end({ timeout: 1 });
parentPort?.postMessage(answer);
