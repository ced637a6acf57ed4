import type { Live } from '../live.js';
import { bytes, count, milliseconds, span } from '../parts/format.js';
import { Table } from '../parts/table.js';
import { Waiting } from '../parts/waiting.js';

export function StorageView({ overview }: Live) {
  if (overview === undefined) return <Waiting />;
  const { log, lsn, tag, tables, diskLow } = overview;
  return (
    <>
      <h1>Storage</h1>
      <div class="card">
        <dl>
          <dt>Ids begin with</dt>
          <dd>{tag}-</dd>
          <dt>Last record</dt>
          <dd>{count(lsn)}</dd>
          <dt>Log</dt>
          <dd>
            {bytes(log.bytes)} in sealed segments
            {log.segments === undefined ? '' : `, ${count(log.segments)} segments in use`}; read in{' '}
            {span(log.replayMs)} at the start
          </dd>
          <dt>Newest snapshot</dt>
          <dd>
            {log.snapshot === undefined
              ? 'none yet'
              : `${bytes(log.snapshot.bytes)}, up to record ${count(log.snapshot.lsn)}`}
          </dd>
          <dt>A write to the disk</dt>
          <dd>
            {log.commitMs === undefined
              ? '–'
              : `${milliseconds(log.commitMs.p50)} (p50), ${milliseconds(log.commitMs.p99)} (p99), fsync included`}
          </dd>
          <dt>Free on the disk</dt>
          <dd>
            {log.freeBytes === undefined ? 'not looked at yet' : bytes(log.freeBytes)}
            {diskLow ? ', too little' : ''}
          </dd>
          <dt>Cut bytes</dt>
          <dd>
            {log.cutBytes === 0
              ? 'none'
              : `${bytes(log.cutBytes)} behind the last whole record at the start; they are in quarantine/`}
          </dd>
          <dt>Failed snapshots</dt>
          <dd>{count(log.failedSnapshots)}</dd>
        </dl>
      </div>
      <h2>Bounded tables</h2>
      <Table label="Bounded tables" head={['Table', 'Used', 'Limit', 'Share']} numbers={['Used', 'Limit']}>
        {Object.entries(tables).map(([name, { used, max }]) => (
          <tr key={name}>
            <td>{TABLES[name] ?? name}</td>
            <td>{name.endsWith('Bytes') ? bytes(used) : count(used)}</td>
            <td>{name.endsWith('Bytes') ? bytes(max) : count(max)}</td>
            <td class="share">
              <meter
                min={0}
                max={max}
                low={0.8 * max}
                high={0.95 * max}
                optimum={0}
                value={used}
                aria-label={`${TABLES[name] ?? name} used`}
              />{' '}
              <small>{share(used, max)}</small>
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

const TABLES: Readonly<Record<string, string>> = {
  jobs: 'Queued and running jobs',
  jobBytes: 'Inputs and feeds of these',
  dead: 'Dead letters',
  deadBytes: 'Inputs of dead letters',
  keys: 'Idempotency keys',
  producers: 'Clients that may submit again',
  policies: 'Definitions of jobs',
  results: 'Outputs that are kept',
  resultBytes: 'Bytes of these outputs',
  spillBytes: 'Files of streams',
  schedules: 'Schedules',
};

function share(used: number, max: number): string {
  const percent = (100 * used) / Math.max(1, max);
  return percent > 0 && percent < 1 ? '< 1 %' : `${Math.round(percent)} %`;
}
