import type { Live } from '../live.js';

export function WorkersView({ overview }: Live) {
  const workers = overview?.workers ?? [];
  return (
    <>
      <h1>Workers</h1>
      {workers.length === 0 ? (
        <p class="empty">
          No worker is connected. Start one: <code>npx troupe worker handlers.mjs</code>
        </p>
      ) : (
        <section class="scroll" tabIndex={0} aria-label="Workers">
          <table>
            <thead>
              <tr>
                {['Worker', 'State', 'Running', 'Overrun', 'Credit', 'Processor', 'Loop delay'].map(
                  (name) => (
                    <th key={name} scope="col">
                      {name}
                    </th>
                  ),
                )}
              </tr>
            </thead>
            <tbody>
              {workers.map((one) => (
                <tr key={one.worker}>
                  <td>{one.worker}</td>
                  <td class={`state ${one.liveness}`}>{one.liveness}</td>
                  <td>
                    {one.running}/{one.slots}
                  </td>
                  <td>{one.overrun}</td>
                  <td>{one.credit}</td>
                  <td>{Math.round(one.cpu * 100)} %</td>
                  <td>{Math.round(one.lagMs)} ms</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}
