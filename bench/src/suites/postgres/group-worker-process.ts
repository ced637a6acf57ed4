// A worker of groups with leaders of their own. Arguments: <port of left> <port of right> <slots>.
import { handle, startGroupWorker } from '@troupe/jobs';
import { resultOf } from '../jobs/payload.js';
import { GROUP_JOBS } from './group-jobs.js';

const [left = 0, right = 0, slots = 1] = process.argv.slice(2).map(Number);

process.once('disconnect', () => process.exit(0));

await startGroupWorker({
  leaders: { left: { port: left }, right: { port: right } },
  name: 'bench',
  slots,
  bytesMax: 2 ** 30,
  cpuCap: 1,
  handlers: GROUP_JOBS.map((job) => handle(job, resultOf)),
});
process.send?.('ready');
