import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, call, onSignedOut, useCsrf } from './api.js';
import { JobView } from './job/job.js';
import { type Live, useLive } from './live.js';
import { type Route, useRoute } from './route.js';
import { ActorsView } from './views/actors.js';
import { AuditView } from './views/audit.js';
import { DeadLettersView } from './views/dead-letters.js';
import { JobsView } from './views/jobs.js';
import { OverviewView } from './views/overview.js';
import { QueuesView } from './views/queues.js';
import { SchedulesView } from './views/schedules.js';
import { SignInView } from './views/sign-in.js';
import { StorageView } from './views/storage.js';
import { WorkersView } from './views/workers.js';

const PAGES = [
  ['', 'Overview'],
  ['jobs', 'Jobs'],
  ['queues', 'Queues'],
  ['dead-letters', 'Dead letters'],
  ['schedules', 'Schedules'],
  ['workers', 'Workers'],
  ['actors', 'Actors'],
  ['storage', 'Storage'],
  ['audit', 'Audit'],
] as const;

const RETRY_MS = 1_000;
/** So much of the page before stays in sight. */
const NEIGHBOUR_PX = 60;

type SignIn = 'unknown' | 'needed' | 'done';

function Page() {
  const [signIn, setSignIn] = useState<SignIn>('unknown');
  /** The name of the token; empty where none is needed. */
  const [user, setUser] = useState('');
  const route = useRoute();
  const live = useLive(signIn === 'done');
  useEffect(() => {
    onSignedOut(() => setSignIn('needed'));
    const ask = (): void => {
      call<{ name: string; csrf?: string }>('GET', '/api/session').then(
        ({ name, csrf = '' }) => {
          useCsrf(csrf);
          setUser(csrf === '' ? '' : name);
          setSignIn('done');
        },
        (error: Error) => {
          // No answer is no refusal.
          if (!(error instanceof ApiError && error.status === 401)) setTimeout(ask, RETRY_MS);
        },
      );
    };
    ask();
  }, []);
  const path = route.path.join('/');
  useEffect(() => {
    document.title = path === '' ? 'Troupe' : `${decodeURIComponent(path)} – Troupe`;
    scrollTo(0, 0);
  }, [path]);
  if (signIn === 'unknown') return <p class="empty">Connecting …</p>;
  if (signIn === 'needed')
    return (
      <SignInView
        onSignedIn={(name) => {
          setUser(name);
          setSignIn('done');
        }}
      />
    );
  const signOut = (): void => {
    call('DELETE', '/api/session').then(
      () => setSignIn('needed'),
      // The session stays as it is, and so does the page.
      () => undefined,
    );
  };
  const [current = ''] = route.path;
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector('main')?.focus()}>
        Skip to the content
      </button>
      <header>
        <strong>Troupe</strong>
        <Navigation current={current} />
        <span class={`link-state ${live.isConnected ? '' : 'away'}`} role="status">
          {live.isConnected ? 'live' : 'the leader is away, connecting …'}
        </span>
        {user === '' ? null : (
          <button type="button" class="sign-out" title={`signed in as ${user}`} onClick={signOut}>
            Sign out
          </button>
        )}
      </header>
      <main tabIndex={-1}>
        <View route={route} live={live} />
      </main>
    </>
  );
}

/** On a telephone it scrolls: the current page is brought into view. */
function Navigation({ current }: { readonly current: string }) {
  const list = useRef<HTMLElement>(null);
  useEffect(() => {
    const link = list.current?.querySelector<HTMLElement>('[aria-current]');
    if (link && list.current)
      list.current.scrollLeft = link.offsetLeft - list.current.offsetLeft - NEIGHBOUR_PX;
  }, [current]);
  return (
    <nav aria-label="Pages" ref={list}>
      {PAGES.map(([path, name]) => (
        <a key={path} href={`#/${path}`} aria-current={path === current ? 'page' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}

function View({ route, live }: { readonly route: Route; readonly live: Live }) {
  const [page, id] = route.path;
  if (page === 'jobs')
    return id === undefined ? (
      <JobsView key={route.query.toString()} {...route} />
    ) : (
      <JobView key={id} id={id} />
    );
  if (page === 'queues') return <QueuesView />;
  if (page === 'dead-letters') return <DeadLettersView />;
  if (page === 'audit') return <AuditView {...route} />;
  if (page === 'schedules') return <SchedulesView {...route} />;
  if (page === 'workers') return <WorkersView {...live} />;
  if (page === 'actors') return <ActorsView />;
  if (page === 'storage') return <StorageView {...live} />;
  return <OverviewView {...live} />;
}

const root = document.getElementById('page');
if (root !== null) render(<Page />, root);
