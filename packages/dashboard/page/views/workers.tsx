import { useState } from 'preact/hooks';
import { call, type WorkerRow } from '../api.js';
import type { Live } from '../live.js';
import { Command } from '../parts/command.js';
import { span } from '../parts/format.js';
import { Table } from '../parts/table.js';
import { Waiting } from '../parts/waiting.js';

export function WorkersView({ overview }: Live) {
  const [problem, setProblem] = useState('');
  if (overview === undefined) return <Waiting />;
  const { workers } = overview;
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
        <div class="empty">
          <p>No worker is connected, so no job begins. Start one with the handlers of your jobs:</p>
          <Command text="npx troupe worker handlers.mjs" />
        </div>
      ) : (
        <Table
          label="Workers"
          head={[
            'Worker',
            'State',
            'Running / slots',
            'Overrun',
            'Credit',
            'Processor',
            'Loop delay',
            'Labels',
            'Change',
          ]}
          numbers={['Running / slots', 'Overrun', 'Credit', 'Processor', 'Loop delay']}
        >
          {workers.map((one) => (
            <tr key={one.worker}>
              <td>{one.worker}</td>
              <td class={`state ${one.quiet === true ? 'cancelled' : one.liveness}`}>
                {one.quiet === true && one.liveness === 'alive' ? 'quiet' : one.liveness}
                {one.blockedMs > 0 ? ` for ${span(one.blockedMs)}` : ''}
              </td>
              <td>{one.liveness === 'gone' ? one.running : `${one.running} / ${one.slots}`}</td>
              <td>{one.overrun}</td>
              <td>{one.credit}</td>
              <td>{Math.round(one.cpu * 100)} %</td>
              <td>{Math.round(one.lagMs)} ms</td>
              <td class="name">{one.labels?.join(', ') ?? '–'}</td>
              <td class="actions">{one.liveness === 'gone' ? '–' : <Acts {...one} act={act} />}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

interface ActsProps extends WorkerRow {
  readonly act: (worker: string, verb: 'quiet' | 'resume' | 'stop') => void;
}

/** One that is gone cannot be steered. */
function Acts({ worker, quiet = false, act }: ActsProps) {
  return (
    <>
      <button type="button" onClick={() => act(worker, quiet ? 'resume' : 'quiet')}>
        {quiet ? 'Resume' : 'Quiet'}
      </button>
      <button type="button" onClick={() => act(worker, 'stop')}>
        Stop
      </button>
    </>
  );
}
