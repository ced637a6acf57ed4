import {
  child,
  defineActor,
  diffTrees,
  pool,
  printTree,
  type SupervisorSpec,
  supervisor,
  TreeError,
} from '@troupe/core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const tree = suite('tree as data');

const Wal = defineActor('wal', {
  state: (args: { dir: string }) => args,
  handlers: { dir: (ctx) => ctx.state.dir },
});
const Leader = defineActor('leader', { handlers: { ping: () => 'pong' } });
const Worker = defineActor('worker', { handlers: { ping: () => 'pong' } });

const app = supervisor('app', { strategy: 'rest-for-one', restarts: 3, withinMs: 1_000 }, [
  child(Wal, { args: { dir: '/data' }, significant: true }),
  child(Leader, { restart: 'permanent' }),
  supervisor('workers', { backoff: { fromMs: 10, toMs: 100, jitter: 0.2 } }, [
    pool(Worker, { size: 4, routing: 'least-loaded' }),
    child(Worker, { name: 'spare', restart: 'temporary' }),
  ]),
]);

tree('a tree is printed with one line per node', () => {
  assert.is(
    printTree(app),
    [
      'app: supervisor, rest-for-one, 3 restarts in 1000 ms, transient',
      '├─ wal: child wal, transient, significant',
      '├─ leader: child leader, permanent',
      '└─ workers: supervisor, one-for-one, 5 restarts in 30000 ms, back-off 10 to 100 ms ± 20 %, transient',
      '   ├─ worker: pool of 4 worker, least-loaded, permanent, one-for-one, 5 restarts in 30000 ms',
      '   └─ spare: child worker, transient'.replace('transient', 'temporary'),
    ].join('\n'),
  );
});

tree('equal trees have no difference', () => {
  assert.equal(diffTrees(app, app), []);
});

tree('a difference has the path, the property and both values', () => {
  const next = supervisor('app', { strategy: 'rest-for-one', restarts: 5, withinMs: 1_000 }, [
    child(Leader, { restart: 'permanent' }),
    child(Wal, { args: { dir: '/other' }, significant: true }),
    supervisor('workers', { backoff: { fromMs: 10, toMs: 100, jitter: 0.2 } }, [
      pool(Worker, { size: 8, routing: 'least-loaded' }),
      child(Leader, { name: 'deputy' }),
    ]),
  ]);
  assert.equal(diffTrees(app, next), [
    { kind: 'removed', path: 'app/workers/spare', what: 'child worker, temporary' },
    {
      kind: 'changed',
      path: 'app',
      property: 'limit',
      before: '3 restarts in 1000 ms',
      after: '5 restarts in 1000 ms',
    },
    {
      kind: 'reordered',
      path: 'app',
      before: ['wal', 'leader', 'workers'],
      after: ['leader', 'wal', 'workers'],
    },
    {
      kind: 'changed',
      path: 'app/workers/worker',
      property: 'kind',
      before: 'pool of 4 worker',
      after: 'pool of 8 worker',
    },
    { kind: 'added', path: 'app/workers/deputy', what: 'child leader, transient' },
  ]);
});

tree('siblings with the same name are refused', () => {
  assert.throws(
    () => supervisor('app', {}, [child(Leader), child(Leader)]),
    (error: unknown) =>
      error instanceof TreeError && error.code === 'ERR_TREE' && error.path === 'app/leader',
  );
});

tree('an illegal name is refused', () => {
  for (const name of ['', 'a/b', 'ä', 'x'.repeat(129), 'a b']) {
    assert.throws(
      () => supervisor(name, {}, []),
      (error: unknown) => error instanceof TreeError,
    );
    assert.throws(
      () => child(Leader, { name }),
      (error: unknown) => error instanceof TreeError,
    );
  }
});

tree('a cyclic tree is refused', () => {
  const children: SupervisorSpec[] = [];
  const circle: SupervisorSpec = {
    kind: 'supervisor',
    name: 'a',
    policy: {},
    restart: 'transient',
    significant: false,
    children,
  };
  children.push({ ...circle, name: 'b', children: [circle] });
  assert.throws(() => printTree(circle), /a\/b\/a: is its own ancestor/);
});

tree('a value that is no tree is refused', () => {
  for (const bad of [undefined, null, {}, { kind: 'supervisor', name: 'x' }, { kind: 'child', name: 'x' }]) {
    assert.throws(
      () => printTree(bad as unknown as SupervisorSpec),
      (error: unknown) => error instanceof TreeError,
    );
  }
});

tree('a checked tree is frozen', () => {
  assert.ok(Object.isFrozen(app) && Object.isFrozen(app.children) && Object.isFrozen(app.children[0]));
});

tree.run();
