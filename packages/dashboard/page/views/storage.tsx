import type { Live } from '../live.js';
import { bytes, count } from '../parts/format.js';

export function StorageView({ overview }: Live) {
  if (overview === undefined) return <p class="empty">Waiting for the leader …</p>;
  const { log, lsn, tag, tables } = overview;
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
            {bytes(log.bytes)}, read in {count(log.replayMs)} ms at the start
          </dd>
          <dt>Cut bytes</dt>
          <dd>{count(log.cutBytes)}</dd>
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
            </tr>
          </thead>
          <tbody>
            {Object.entries(tables).map(([name, { used, max }]) => (
              <tr key={name}>
                <td>{name}</td>
                <td>{count(used)}</td>
                <td>{count(max)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}
