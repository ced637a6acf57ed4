import type { Live } from '../live.js';
import { bytes, count, milliseconds, span } from '../parts/format.js';

export function StorageView({ overview }: Live) {
  if (overview === undefined) return <p class="empty">Waiting for the leader …</p>;
  const { log, lsn, tag, tables, diskLow } = overview;
  return (
    <>
      <h1>Storage</h1>
      <div class="card">
        <dl>
          <dt>Folder</dt>
          <dd>ids start with {tag}-</dd>
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
      <section class="scroll" tabIndex={0} aria-label="Bounded tables">
        <table>
          <thead>
            <tr>
              <th scope="col">Table</th>
              <th scope="col">Used</th>
              <th scope="col">Limit</th>
              <th scope="col">Share</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(tables).map(([name, { used, max }]) => (
              <tr key={name}>
                <td>{name}</td>
                <td>{name.endsWith('Bytes') ? bytes(used) : count(used)}</td>
                <td>{name.endsWith('Bytes') ? bytes(max) : count(max)}</td>
                <td>
                  <meter
                    min={0}
                    max={max}
                    low={0.8 * max}
                    high={0.95 * max}
                    optimum={0}
                    value={used}
                    aria-label={`${name} used`}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}
