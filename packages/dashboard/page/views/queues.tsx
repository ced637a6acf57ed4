import { Command } from '../parts/command.js';
import { ExecFigures, type ExecRow } from '../parts/exec-figures.js';
import { count, span } from '../parts/format.js';
import { Table } from '../parts/table.js';
import { useFollowed } from '../parts/use-look.js';
import { Waiting } from '../parts/waiting.js';

interface Rate {
  readonly jobs: number;
  readonly perMs: number;
}

interface Limits {
  readonly runningMax?: number;
  readonly rate?: Rate;
  readonly keyRunningMax?: number;
  readonly keyRate?: Rate;
}

interface QueueRow {
  readonly queue: string;
  readonly mode: 'open' | 'paused' | 'draining';
  readonly limits: Limits;
  readonly waiting: number;
  readonly behindKeys: number;
  readonly running: number;
}

interface Answer {
  readonly queues: readonly QueueRow[];
  readonly execs: readonly ExecRow[];
}

/** Depth, age, rates and times, and the modes of queues. */
export function QueuesView() {
  const { value, problem, change } = useFollowed<Answer>('/api/queues');
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
      {value === undefined ? (
        problem === '' && <Waiting />
      ) : value.queues.length === 0 && value.execs.length === 0 ? (
        <div class="empty">
          <p>No queue has jobs. A queue is there as long as jobs are in it; submit one:</p>
          <Command text="npx troupe submit math.add '[1, 2]'" />
        </div>
      ) : (
        <>
          <Table
            label="Queues"
            head={['Queue', 'Mode', 'Waiting', 'Behind keys', 'Running', 'Limits', 'Change']}
            numbers={['Waiting', 'Behind keys', 'Running']}
          >
            {value.queues.map((one) => (
              <tr key={one.queue}>
                <td>{one.queue}</td>
                <td class={`state ${one.mode === 'open' ? 'done' : 'cancelled'}`}>{one.mode}</td>
                <td>{count(one.waiting)}</td>
                <td>{count(one.behindKeys)}</td>
                <td>{count(one.running)}</td>
                <td>{limitsText(one.limits)}</td>
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
          <h2>
            Figures <small>rates of the last minute</small>
          </h2>
          <ExecFigures execs={value.execs} />
        </>
      )}
    </>
  );
}

/** `10 at once · 100 per 1 s` */
function limitsText({ runningMax, rate, keyRunningMax, keyRate }: Limits): string {
  const rateText = ({ jobs, perMs }: Rate): string => `${count(jobs)} per ${span(perMs)}`;
  const texts = [
    runningMax === undefined ? '' : `${count(runningMax)} at once`,
    rate === undefined ? '' : rateText(rate),
    keyRunningMax === undefined ? '' : `${count(keyRunningMax)} at once of a key`,
    keyRate === undefined ? '' : `${rateText(keyRate)} of a key`,
  ].filter((text) => text !== '');
  return texts.length === 0 ? '–' : texts.join(' · ');
}
