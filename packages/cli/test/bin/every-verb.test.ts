// timeout: 300s
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { commandList } from '#src/command-list.js';
import { programOf } from '#src/program.js';
import { inProcess, lines, Running, stage, start, troupe, workerOf } from './troupe.js';

const verbs = suite('every verb by the bin');

const terminal = { out: () => undefined, err: () => undefined, isInteractive: false, draw: () => undefined };
const listed = commandList(programOf({ terminal, exitCode: 0 }, [])).filter(
  ({ example }) => example !== undefined,
);

const RECORDS = 'records.jsonl';

type Round = 0 | 1;

/** A verb is run for people in the first round and with --json in the second. */
interface Verb {
  readonly words?: (round: Round) => readonly string[];
  readonly stdin?: string;
  readonly out: RegExp;
  /** In its first line of JSON. */
  readonly fields: readonly string[];
  /** Of the first round, where it differs from 0. */
  readonly code?: number;
  /** It runs until it is ended. */
  readonly isProcess?: boolean;
}

const jobs = new URL('../../../jobs/dist/index.js', import.meta.url).href;

/** A module with a handler that streams and is fed. */
const UPPER = `import { defineJob, handle } from ${JSON.stringify(jobs)};
const any = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } };
const job = defineJob('text.upper', { input: any, output: any, chunk: any, feed: any });
export const upper = handle(job, async function* (text, { feed }) {
  if (typeof text === 'string') yield text.toUpperCase();
  else for await (const item of feed) yield String(item).toUpperCase() + '\\n';
});
`;

verbs('each verb prints its result for people and as JSON Lines, and exits as documented', async () => {
  await using s = await stage();
  const module = join(s.dir, 'upper.mjs');
  await writeFile(module, UPPER);
  const started = (name: string): Running =>
    new Running(['worker', module, '--name', name, '--leader', s.at]);
  await using worker = await workerOf(s.at, s.dir);
  await using first = started('x0');
  await using second = started('x1');
  for (const one of [worker, first, second]) await one.first;
  const table = verbTable(s.dir, await preparedJobs(s.at));
  assert.equal(
    listed.map(({ path }) => path).filter((path) => table[path] === undefined),
    [],
    'every verb has its row',
  );
  const records = await inProcess(['wal', 'dump', join(s.dir, 'state')]);
  await writeFile(join(s.dir, RECORDS), records.out);
  const isConnected = (path: string): boolean =>
    listed.some((one) => one.path === path && one.options.some(({ long }) => long === '--connect-within'));
  for (const [path, verb] of Object.entries(table))
    await ranTwice(path, verb, isConnected(path) || path === 'bench' ? ['--leader', s.at] : []);
});

verbs('each verb that needs a leader is exit 69 and one line without one', async () => {
  const table = verbTable('/nowhere', EMPTY_JOBS);
  for (const { path, options } of listed) {
    if (!options.some(({ long }) => long === '--connect-within')) continue;
    if (OWN_FILES.includes(path)) continue;
    const words = [...path.split(' '), ...(table[path]?.words?.(0) ?? [])];
    const none = ['--leader', '127.0.0.1:1', '--connect-within', '30ms', '--json'];
    const ended = await inProcess([...words, ...none]);
    assert.is(ended.code, 69, `${path}: ${ended.err}`);
    const { error } = JSON.parse(ended.err) as { error: { code: string; message: string } };
    assert.is(error.code, 'ERR_LEADER_UNREACHABLE', path);
    assert.match(error.message, 'is a leader running there? see --leader');
  }
});

/** They read files before they connect, or do not connect at all. */
const OWN_FILES: readonly string[] = ['worker', 'config'];

async function ranTwice(path: string, verb: Verb, to: readonly string[]): Promise<void> {
  for (const round of [0, 1] as const) {
    const words = [
      ...path.split(' '),
      ...(verb.words?.(round) ?? []),
      ...to,
      ...(round === 1 ? ['--json'] : []),
    ];
    const { code, out, err } =
      verb.isProcess === true ? await ended(words) : await troupe(words, { stdin: verb.stdin ?? '' });
    assert.is(code, round === 0 ? (verb.code ?? 0) : 0, `${path}: ${err}`);
    if (round === 0) assert.match(out, verb.out, path);
    else {
      const [line] = lines({ code, out, err });
      for (const field of verb.fields)
        assert.ok(line !== undefined && field in line, `${path}: ${field} in ${out}`);
    }
  }
}

/** A process that is ended by SIGTERM once it has printed its first line. */
async function ended(words: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = start(words);
  let out = '';
  let err = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    if (out === '') child.kill('SIGTERM');
    out += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })));
}

interface PreparedJobs {
  readonly done: string;
  /** Two of each, one for each round. */
  readonly waiting: readonly string[];
  readonly dead: readonly string[];
  readonly purged: readonly string[];
  readonly fed: readonly string[];
}

const EMPTY_JOBS: PreparedJobs = {
  done: 'a-1',
  waiting: ['a-1'],
  dead: ['a-1'],
  purged: ['a-1'],
  fed: ['a-1'],
};

async function preparedJobs(at: string): Promise<PreparedJobs> {
  const submit = async (...words: string[]): Promise<string> => {
    const { out, code, err } = await inProcess(['submit', ...words, '--leader', at]);
    assert.is(code, 0, err);
    return out.trim();
  };
  const twice = async (...words: string[]): Promise<string[]> => [
    await submit(...words),
    await submit(...words),
  ];
  const failing = ['math.fail', '1', '--attempts', '1'];
  const jobs = {
    done: await submit('math.add', '[1,2]'),
    waiting: await twice('no.worker', '1'),
    dead: await twice(...failing),
    purged: await twice(...failing),
    fed: await twice('text.upper', 'null', '--stream', '--fed'),
  };
  for (const id of [jobs.done, ...jobs.dead, ...jobs.purged]) await inProcess(['await', id, '--leader', at]);
  return jobs;
}

function verbTable(dir: string, jobs: PreparedJobs): Readonly<Record<string, Verb>> {
  const of =
    (ids: readonly string[]) =>
    (round: Round): readonly string[] => [ids[round] ?? ''];
  const all =
    (...words: string[]) =>
    (): readonly string[] =>
      words;
  const state = join(dir, 'state');
  const copy = (round: Round): string => join(dir, `copy-${round}`);
  const handlers = join(dir, 'handlers.mjs');
  return {
    // The first one: a feed that no client has open ends after its grace.
    feed: { words: of(jobs.fed), stdin: 'one\ntwo\n', out: /^2 items\n$/, fields: ['id', 'items'] },
    leader: {
      words: (round) => ['--port', '0', '--dir', join(dir, `other-${round}`)],
      out: /^leader ready on 127\.0\.0\.1:\d+, folder .*\n(.*\n)*leader stopped\n$/,
      fields: ['kind', 'address'],
      isProcess: true,
    },
    worker: {
      words: all(handlers, '--name', 'w2'),
      out: /^worker w2 ready, 16 slots, runs .*math\.add.*\nworker stopped\n$/,
      fields: ['kind', 'worker', 'execs'],
      isProcess: true,
    },
    dev: {
      words: all(handlers, '--port', '0', '--http', '0'),
      out: /^dev ready: leader on \S+, page on http:\S+\ntry: troupe run <exec> <payload> --leader /,
      fields: ['kind', 'address', 'url'],
      isProcess: true,
    },
    dashboard: {
      words: all('--port', '0'),
      out: /http:\/\/127\.0\.0\.1:\d+/,
      fields: ['url'],
      isProcess: true,
    },
    submit: { words: all('text.echo', '1'), out: /^\w{5}-\w+\n$/, fields: ['id'] },
    run: { words: all('math.add', '[1,2]'), out: /^3\n$/, fields: ['id', 'output'] },
    stream: { words: all('text.upper', '"ann"'), out: /^ANN\n$/, fields: ['kind', 'chunk'] },
    await: { words: all(jobs.done), out: /^3\n$/, fields: ['id', 'output'] },
    explain: {
      words: of(jobs.waiting),
      out: / waits:\n- no worker serves it/,
      fields: ['id', 'state', 'reasons'],
    },
    cancel: { words: of(jobs.waiting), out: /^\S+ cancelled\n$/, fields: ['id', 'state'] },
    show: { words: all(jobs.done), out: /^id .*\n.*math\.add\n/, fields: ['id', 'exec', 'state'] },
    ls: { out: /^ID +STATE +EXEC +ATTEMPT/, fields: ['id', 'exec', 'state'] },
    'dlq ls': { out: /^ID +EXEC +REASON +ENDED +LAST ERROR\n.*it never works/, fields: ['id', 'failure'] },
    'dlq show': {
      words: of(jobs.dead),
      out: /\nfailure +Error: it never works\n/,
      fields: ['id', 'failure'],
    },
    'dlq groups': { out: /^COUNT +FINGERPRINT .*\n4 /, fields: ['count', 'fingerprint', 'ids'] },
    'dlq redrive': {
      words: of(jobs.dead),
      out: /^1 of 1 queued again\n$/,
      fields: ['redriven', 'requested'],
    },
    'dlq purge': { words: of(jobs.purged), out: /^1 of 1 purged\n$/, fields: ['purged', 'requested'] },
    'queue stats': { out: /^EXEC +QUEUED +RUNNING +OLDEST/, fields: ['exec', 'queued', 'waitMs'] },
    'queue pause': {
      words: all('text.echo'),
      out: /text\/text\.echo +paused/,
      fields: ['queue', 'mode', 'by'],
    },
    'queue drain': { words: all('text.echo'), out: /text\/text\.echo +draining/, fields: ['queue', 'mode'] },
    'queue resume': { words: all('text.echo'), out: /text\/text\.echo +open/, fields: ['queue', 'mode'] },
    'queue limits': {
      words: all('text.echo', '--rate', '100/1s'),
      out: /rate 100\/1s/,
      fields: ['queue', 'limits'],
    },
    'queue ls': { out: /^QUEUE +MODE +WAITING/, fields: ['queue', 'mode', 'limits'] },
    'schedule add': {
      words: (round) => [`n${round}`, 'math.add', '[1,2]', '--every', '1h'],
      out: /^NAME.*\nn0 +math\.add +every 1h /,
      fields: ['name', 'next'],
    },
    'schedule ls': { out: /^NAME.*\nn0 .*\nn1 /, fields: ['name', 'next'] },
    'schedule run': { words: all('n0'), out: /\nn0 .* 1 +0\n$/, fields: ['name', 'runs', 'lastJob'] },
    'schedule pause': { words: all('n0'), out: /\nn0 .* paused /, fields: ['name', 'paused'] },
    'schedule resume': { words: all('n0'), out: /\nn0 .*every 1h +20\d\d-/, fields: ['name', 'paused'] },
    'schedule rm': { words: (round) => [`n${round}`], out: /^n0 removed\n$/, fields: ['name', 'removed'] },
    'workers ls': { out: /^WORKER +STATE +RUNNING/, fields: ['worker', 'liveness', 'slots'] },
    'workers quiet': { words: all('w1'), out: /^w1 quiet, 1 process\n$/, fields: ['worker', 'quiet'] },
    'workers resume': { words: all('w1'), out: /^w1 resumed, 1 process\n$/, fields: ['worker', 'resumed'] },
    'workers stop': {
      words: (round) => [`x${round}`],
      out: /^x0 ends, 1 process\n$/,
      fields: ['worker', 'stopped'],
    },
    'clients ls': { out: /^CLIENT +SINCE/, fields: ['client', 'since', 'refusals'] },
    audit: { out: /^NO +AT +BY +ACTION +TARGET +DETAIL\n.*cancel/, fields: ['no', 'by', 'action', 'target'] },
    top: { words: all('--count', '1'), code: 64, out: /^$/, fields: ['lsn', 'counts', 'problems'] },
    tree: {
      out: /^\d+ actors, .*\n\n\/ .*\n(.*\n)*log:\n/,
      fields: ['root', 'stats', 'recent', 'log', 'lsn'],
    },
    check: { words: all('--workers-min', '1'), out: /^ok: /, fields: ['ok', 'problems', 'lsn'] },
    config: { out: /^SETTING +VALUE +FROM\n/, fields: ['name', 'value', 'from'] },
    'key new': { words: all('ops', '--allow', 'all'), out: /"id": "ops-/, fields: ['id', 'key'] },
    'wal dump': { words: all(state), out: /^\{.*"lsn":/, fields: ['lsn', 'type'] },
    'wal at': { words: all(state, '3'), out: /^after record 3, /, fields: ['counts'] },
    'wal verify': {
      words: all(state),
      out: /^ok: entries 1 to \d+ in /,
      fields: ['ok', 'lastLsn', 'damage'],
    },
    backup: {
      words: (round) => [state, copy(round)],
      out: / \d+ files, verified up to lsn \d+\n$/,
      fields: ['to', 'lastLsn'],
    },
    restore: {
      words: (round) => [copy(round), join(dir, `restored-${round}`)],
      out: / \d+ files, verified up to lsn \d+\n$/,
      fields: ['to', 'lastLsn'],
    },
    'wal load': {
      words: (round) => [join(dir, `loaded-${round}`), '--file', join(dir, RECORDS)],
      out: /^\S+: \d+ lines, \d+ jobs queued/,
      fields: ['folder', 'lines', 'counts'],
    },
    'wal repair': {
      words: all(join(dir, 'restored-0')),
      out: /^would be: \d+ records kept, none lost; say --accept-loss to do it\n$/,
      fields: ['recordsKept', 'applied'],
    },
    bench: {
      words: all('--jobs', '20', '--outstanding', '5'),
      out: /^20 jobs in /,
      fields: ['jobs', 'jobsPerSecond', 'p99Ms'],
    },
    completion: {
      words: all('bash'),
      out: /complete -o default -F _troupe troupe/,
      fields: ['shell', 'script'],
    },
  };
}

verbs.run();
