import { missingSystem, scriptSystems } from '../adapters/adapter-registry.js';
import { erlangCommand } from '../adapters/erlang-command.js';
import type { Case, Suite } from '../runner/suite.js';
import { countingOf } from '../workloads/core/counting.js';
import { createOf } from '../workloads/core/create.js';
import { forkjoinOf } from '../workloads/core/forkjoin.js';
import { pingpongOf } from '../workloads/core/pingpong.js';
import { ringOf } from '../workloads/core/ring.js';
import { chat } from '../workloads/savina/chat.js';
import { banking } from '../workloads/savina/concurrency/banking.js';
import { barber } from '../workloads/savina/concurrency/barber.js';
import { bndbuffer } from '../workloads/savina/concurrency/bndbuffer.js';
import { cigsmok } from '../workloads/savina/concurrency/cigsmok.js';
import { concdict } from '../workloads/savina/concurrency/concdict.js';
import { concsll } from '../workloads/savina/concurrency/concsll.js';
import { logmap } from '../workloads/savina/concurrency/logmap.js';
import { philosopher } from '../workloads/savina/concurrency/philosopher.js';
import { big } from '../workloads/savina/micro/big.js';
import { chameneos } from '../workloads/savina/micro/chameneos.js';
import { fib } from '../workloads/savina/micro/fib.js';
import { apsp } from '../workloads/savina/parallel/apsp.js';
import { astar } from '../workloads/savina/parallel/astar.js';
import { bitonicsort } from '../workloads/savina/parallel/bitonicsort.js';
import { facloc } from '../workloads/savina/parallel/facloc.js';
import { filterbank } from '../workloads/savina/parallel/filterbank.js';
import { nqueenk } from '../workloads/savina/parallel/nqueenk.js';
import { piprecision } from '../workloads/savina/parallel/piprecision.js';
import { quicksort } from '../workloads/savina/parallel/quicksort.js';
import { radixsort } from '../workloads/savina/parallel/radixsort.js';
import { recmatmul } from '../workloads/savina/parallel/recmatmul.js';
import { sieve } from '../workloads/savina/parallel/sieve.js';
import { sor } from '../workloads/savina/parallel/sor.js';
import { trapezoid } from '../workloads/savina/parallel/trapezoid.js';
import { uct } from '../workloads/savina/parallel/uct.js';
import type { Workload } from '../workloads/workload.js';
import { workloadTrial } from '../workloads/workload-trial.js';

/** Benchmarks with an Erlang version. */
const inErlang: ReadonlySet<string> = new Set([
  ...['pingpong', 'count', 'fjthrput', 'fjcreate', 'threadring', 'chameneos', 'big', 'fib'],
  ...['concdict', 'concsll', 'bndbuffer', 'philosopher', 'barber', 'cigsmok', 'logmap', 'banking'],
]);

function caseOf(group: string, workload: Workload): Case {
  const systems = [...scriptSystems];
  if (inErlang.has(workload.name)) systems.push('erlang');
  if (workload.plain !== undefined) systems.push('plain');
  return {
    benchmark: workload.name,
    group,
    unit: workload.unit,
    systems,
    note: workload.note,
    repeat: { warmups: 2, iterations: 5, budgetMs: 450 },
    prepare: (context) => workloadTrial(workload, context),
    command: (context, repeat) => erlangCommand('savina', workload.name, context, repeat),
  };
}

const micro: readonly Workload[] = [
  pingpongOf('pingpong', 40_000),
  countingOf('count', 1_000_000),
  forkjoinOf('fjthrput', 10_000),
  createOf('fjcreate', 40_000),
  ringOf('threadring', 100_000),
  chameneos,
  big,
  fib,
];
const concurrency: readonly Workload[] = [
  ...[concdict, concsll, bndbuffer, philosopher, barber, cigsmok, logmap, banking],
];
const parallel: readonly Workload[] = [
  ...[apsp, astar, nqueenk, recmatmul, quicksort, radixsort, bitonicsort],
  ...[filterbank, sieve, uct, facloc, piprecision, sor, trapezoid],
];

export const suite: Suite = {
  name: 'savina',
  title: 'Savina’s thirty actor benchmarks and chat, each with its oracle checked on every run',
  systems: ['troupe', 'floor', 'plain', 'erlang', 'xstate', 'nact', 'comedy', 'effect'],
  cases: [
    ...micro.map((workload) => caseOf('micro', workload)),
    ...concurrency.map((workload) => caseOf('concurrency', workload)),
    ...parallel.map((workload) => caseOf('parallel', workload)),
    caseOf('chat', chat),
  ],
  missing: missingSystem,
};
