import { missingSystem, scriptSystems } from '../adapters/catalogue.js';
import { erlangCommand } from '../adapters/erlang.js';
import type { Case, Suite } from '../runner/suite.js';
import { countingOf } from '../workloads/core/counting.js';
import { createOf } from '../workloads/core/create.js';
import { forkjoinOf } from '../workloads/core/forkjoin.js';
import { pingpongOf } from '../workloads/core/pingpong.js';
import { ringOf } from '../workloads/core/ring.js';
import { apsp } from '../workloads/savina/apsp.js';
import { astar } from '../workloads/savina/astar.js';
import { banking } from '../workloads/savina/banking.js';
import { barber } from '../workloads/savina/barber.js';
import { big } from '../workloads/savina/big.js';
import { bitonicsort } from '../workloads/savina/bitonicsort.js';
import { bndbuffer } from '../workloads/savina/bndbuffer.js';
import { chameneos } from '../workloads/savina/chameneos.js';
import { chat } from '../workloads/savina/chat.js';
import { cigsmok } from '../workloads/savina/cigsmok.js';
import { concdict } from '../workloads/savina/concdict.js';
import { concsll } from '../workloads/savina/concsll.js';
import { facloc } from '../workloads/savina/facloc.js';
import { fib } from '../workloads/savina/fib.js';
import { filterbank } from '../workloads/savina/filterbank.js';
import { logmap } from '../workloads/savina/logmap.js';
import { nqueenk } from '../workloads/savina/nqueenk.js';
import { philosopher } from '../workloads/savina/philosopher.js';
import { piprecision } from '../workloads/savina/piprecision.js';
import { quicksort } from '../workloads/savina/quicksort.js';
import { radixsort } from '../workloads/savina/radixsort.js';
import { recmatmul } from '../workloads/savina/recmatmul.js';
import { sieve } from '../workloads/savina/sieve.js';
import { sor } from '../workloads/savina/sor.js';
import { trapezoid } from '../workloads/savina/trapezoid.js';
import { uct } from '../workloads/savina/uct.js';
import { workloadTrial } from '../workloads/trial.js';
import type { Workload } from '../workloads/workload.js';

/** Those with a version in Erlang. */
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
    ...(workload.note !== undefined && { note: workload.note }),
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
