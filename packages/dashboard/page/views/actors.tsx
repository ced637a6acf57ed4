import { useRef } from 'preact/hooks';
import { amount, bytes, count } from '../parts/format.js';
import { Table } from '../parts/table.js';
import { useFollowed } from '../parts/use-look.js';
import { Waiting } from '../parts/waiting.js';

interface ActorRow {
  readonly path: string;
  readonly actor: string;
  readonly activity: string;
  readonly notRunning?: { readonly why: string } | undefined;
  readonly depth: number;
  readonly handled: number;
  readonly restarts: number;
  readonly children: readonly ActorRow[];
  readonly hidden: number;
}

interface Actors {
  readonly root: ActorRow;
  readonly stats: Readonly<
    Record<'actors' | 'ready' | 'queued' | 'handled' | 'deadLetters' | 'timers', number>
  >;
  readonly recent: readonly string[];
  readonly log: { readonly bytes: number; readonly failedSnapshots: number };
  readonly lsn: number;
}

interface Look {
  readonly at: number;
  readonly actors: Actors;
}

/** The live tree of the leader. */
export function ActorsView() {
  const { value: actors, problem } = useFollowed<Actors>('/api/actors');
  const looks = useRef<readonly Look[]>([]);
  // An answer is an object of its own: another one is another look.
  if (actors !== undefined && looks.current.at(-1)?.actors !== actors)
    looks.current = [...looks.current.slice(-1), { at: Date.now(), actors }];
  if (actors === undefined)
    return (
      <>
        <h1>Actors</h1>
        {problem === '' ? <Waiting /> : <p class="error">{problem}</p>}
      </>
    );
  const { root, stats, recent, log, lsn } = actors;
  const rates = ratesOf(looks.current);
  return (
    <>
      <h1>Actors</h1>
      {problem === '' ? null : <p class="error">{problem}</p>}
      <p class="quiet">
        {amount(stats.actors, 'actor')}, {count(stats.ready)} ready · {amount(stats.queued, 'message')}{' '}
        waiting, {count(stats.handled)} handled · {amount(stats.deadLetters, 'dead letter')} · log of{' '}
        {bytes(log.bytes)}, record {count(lsn)}
      </p>
      <Table
        label="Actors"
        head={['Actor', 'Activity', 'Mailbox', 'Per second', 'Handled', 'Restarts']}
        numbers={['Mailbox', 'Per second', 'Handled', 'Restarts']}
      >
        {rowsOf(root, 0, rates)}
      </Table>
      <h2>
        Recent messages <small>the latest first</small>
      </h2>
      <pre tabIndex={0}>{[...recent].reverse().join('\n')}</pre>
    </>
  );
}

function rowsOf(actor: ActorRow, level: number, rates: ReadonlyMap<string, number>) {
  const { path, activity, notRunning, depth, handled, restarts, children, hidden } = actor;
  const name = path === '/' ? 'leader process' : path.split('/').at(-1);
  const indent = `level-${Math.min(level, 6)}`;
  return [
    <tr key={path}>
      <td class={indent}>
        {name} {actor.actor === name ? null : <small>{actor.actor}</small>}
      </td>
      <td class={notRunning === undefined ? '' : 'state blocked'}>{notRunning?.why ?? activity}</td>
      <td>{count(depth)}</td>
      <td>{perSecond(rates.get(path))}</td>
      <td>{count(handled)}</td>
      <td>{restarts}</td>
    </tr>,
    ...children.flatMap((child): preact.JSX.Element[] => rowsOf(child, level + 1, rates)),
    ...(hidden === 0
      ? []
      : [
          <tr key={`${path} hidden`}>
            <td class={`level-${Math.min(level + 1, 6)}`} colSpan={6}>
              … {count(hidden)} more
            </td>
          </tr>,
        ]),
  ];
}

/** Unknown before the second look. */
function perSecond(rate: number | undefined): string {
  return rate === undefined ? '–' : count(Math.round(rate));
}

/** Messages per second of each actor since the look before. */
function ratesOf([earlier, look]: readonly Look[]): ReadonlyMap<string, number> {
  if (earlier === undefined || look === undefined) return new Map();
  const seconds = Math.max(0.001, (look.at - earlier.at) / 1_000);
  const known = new Map(flat(earlier.actors.root).map(({ path, handled }) => [path, handled]));
  return new Map(
    flat(look.actors.root).map(({ path, handled }) => [
      path,
      Math.max(0, handled - (known.get(path) ?? handled)) / seconds,
    ]),
  );
}

function flat(actor: ActorRow): ActorRow[] {
  return [actor, ...actor.children.flatMap(flat)];
}
