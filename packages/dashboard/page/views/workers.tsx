import { useState } from 'preact/hooks';
import { call } from '../api.js';
import type { Live } from '../live.js';
import { span } from '../parts/format.js';

export function WorkersView({ overview }: Live) {
  const workers = overview?.workers ?? [];
  const [problem, setProblem] = useState('');
  const act = (worker: string, verb: 'quiet' | 'resume' | 'stop'): void => {
    if (verb === 'stop' && !confirm(`End the worker ${worker} when its attempts have?`)) return;
    call('POST', `/api/workers/${encodeURIComponent(worker)}/${verb}`).then(
      () => setProblem(''),
      (error: Error) => setProblem(error.message),
    );
  };
  return (
    <>
      <h1>Workers</h1>
      {problem === '' ? null : <p class="error">{problem}</p>}
      {workers.length === 0 ? (
        <p class="empty">
          No worker is connected. Start one: <code>npx troupe worker handlers.mjs</code>
        </p>
      ) : (
        <section class="scroll" tabIndex={0} aria-label="Workers">
          <table>
            <thead>
              <tr>
                {[
                  'Worker',
                  'State',
                  'Running',
                  'Overrun',
                  'Credit',
                  'Processor',
                  'Loop delay',
                  'Labels',
                  'Change',
                ].map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {workers.map((one) => (
                <tr key={one.worker}>
                  <td>{one.worker}</td>
                  <td class={`state ${one.quiet === true ? 'cancelled' : one.liveness}`}>
                    {one.quiet === true && one.liveness === 'alive' ? 'quiet' : one.liveness}
                    {one.blockedMs > 0 ? ` for ${span(one.blockedMs)}` : ''}
                  </td>
                  <td>
                    {one.running}/{one.slots}
                  </td>
                  <td>{one.overrun}</td>
                  <td>{one.credit}</td>
                  <td>{Math.round(one.cpu * 100)} %</td>
                  <td>{Math.round(one.lagMs)} ms</td>
                  <td>{one.labels?.join(', ') ?? '–'}</td>
                  <td class="actions">
                    <button
                      type="button"
                      onClick={() => act(one.worker, one.quiet === true ? 'resume' : 'quiet')}
                    >
                      {one.quiet === true ? 'Resume' : 'Quiet'}
                    </button>
                    <button type="button" onClick={() => act(one.worker, 'stop')}>
                      Stop
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}
