import { ExecFigures, type ExecRow } from '../parts/exec-figures.js';
import { count } from '../parts/format.js';
import { Table } from '../parts/table.js';
import { useLook } from '../parts/use-look.js';

interface QueueRow {
  readonly queue: string;
  readonly mode: 'open' | 'paused' | 'draining';
  readonly limits: object;
  readonly waiting: number;
  readonly behindKeys: number;
  readonly running: number;
}

interface Answer {
  readonly queues: readonly QueueRow[];
  readonly execs: readonly ExecRow[];
}

const LOOK_MS = 2_000;

/** Depth, age, rates and times, and the modes of queues. */
export function QueuesView() {
  const { value, problem, change } = useLook<Answer>('/api/queues', LOOK_MS);
  const set = (queue: string, verb: string): void =>
    change('POST', `/api/queues/${encodeURIComponent(queue)}/${verb}`);
  const all = value?.queues.find(({ queue }) => queue === '*');
  return (
    <>
      <h1>Queues</h1>
      {problem === '' ? null : <p class="error">{problem}</p>}
      <div class="row">
        <button type="button" onClick={() => set('*', all?.mode === 'paused' ? 'resume' : 'pause')}>
          {all?.mode === 'paused' ? 'Resume all queues' : 'Pause all queues'}
        </button>
      </div>
      {value === undefined ? null : value.queues.length === 0 && value.execs.length === 0 ? (
        <p class="empty">
          No queue has jobs. Submit one: <code>npx troupe submit math.add '[1, 2]'</code>
        </p>
      ) : (
        <>
          <Table
            label="Queues"
            head={['Queue', 'Mode', 'Waiting', 'Behind keys', 'Running', 'Limits', 'Change']}
          >
            {value.queues.map((one) => (
              <tr key={one.queue}>
                <td>{one.queue}</td>
                <td class={`state ${one.mode === 'open' ? 'done' : 'cancelled'}`}>{one.mode}</td>
                <td>{count(one.waiting)}</td>
                <td>{count(one.behindKeys)}</td>
                <td>{count(one.running)}</td>
                <td>
                  <code>{Object.keys(one.limits).length === 0 ? '–' : JSON.stringify(one.limits)}</code>
                </td>
                <td class="actions">
                  {one.mode === 'open' ? (
                    <>
                      <button type="button" onClick={() => set(one.queue, 'pause')}>
                        Pause
                      </button>
                      <button type="button" onClick={() => set(one.queue, 'drain')}>
                        Drain
                      </button>
                    </>
                  ) : (
                    <button type="button" onClick={() => set(one.queue, 'resume')}>
                      Resume
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </Table>
          <h2>Figures</h2>
          <ExecFigures execs={value.execs} />
        </>
      )}
    </>
  );
}
