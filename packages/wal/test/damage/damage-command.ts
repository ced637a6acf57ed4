// `npm run damage`: damages directories until the time is over, and prints the table of verdicts.
// Arguments: --minutes N (default 1), --seed N (the first one, default 1).

import { DamageTable } from './damage-table.js';

function argument(name: string, otherwise: number): number {
  const at = process.argv.indexOf(name);
  const value = at < 0 ? otherwise : Number(process.argv[at + 1]);
  if (!Number.isFinite(value)) throw new RangeError(`${name}: needed a number`);
  return value;
}

const first = argument('--seed', 1);
const endsAt = performance.now() + argument('--minutes', 1) * 60_000;
const table = new DamageTable();
let seed = first;
for (; performance.now() < endsAt; seed += 1) table.addRound(seed);

const rows = [...table.counts].map(([kind, counts]) => ({ kind, ...counts }));
console.table(Object.fromEntries(rows.map(({ kind, ...counts }) => [kind, counts])));
const total = rows.reduce((sum, row) => sum + row['recovered-all'] + row.refused + row['blob-refused'], 0);
console.log(
  `damage: ${seed - first} directories (${table.withSnapshots} with snapshots, ${table.withLines} of lines), ${total} trials, ${table.losses.length} silent losses`,
);
for (const loss of table.losses.slice(0, 20)) console.error(loss);
process.exitCode = table.losses.length === 0 ? 0 : 1;
