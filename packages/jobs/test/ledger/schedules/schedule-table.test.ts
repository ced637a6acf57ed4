import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoredPolicy } from '#src/ledger/jobs/stored-policy.js';
import { ScheduleTable } from '#src/ledger/schedules/schedule-table.js';
import type { ScheduleTemplate } from '#src/ledger/schedules/schedule-template.js';
import { policyOf } from '../random-records.js';

const table = suite('schedule table');
const policy = new StoredPolicy(1, policyOf('one'));

function templateOf(client: string): ScheduleTemplate {
  return { client, policy, payload: '1', rule: { everyMs: 1_000, overlap: 'skip', catchUpMax: 1 } };
}

/** Names in an order of their own. */
function shuffled(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `name-${(i * 7_919) % count}`);
}

table('numbers of each schedule are its own, over all pages of the columns', () => {
  const schedules = new ScheduleTable();
  const names = shuffled(2_000);
  names.forEach((name, i) => {
    schedules.set(name, templateOf('ann'), { nextAt: i, lastJob: 2 ** 40 + i, runs: i, paused: i % 2 });
  });
  names.forEach((name, i) => {
    const { nextAt, lastJob, runs, paused, lastAt } = schedules.get(name) ?? {};
    assert.equal([nextAt, lastJob, runs, paused, lastAt], [i, 2 ** 40 + i, i, i % 2, 0]);
  });
  schedules.remove(names[0] as string);
  assert.is(schedules.get(names[0] as string), undefined);
  const slot = schedules.set('new', templateOf('ann'), {});
  assert.equal([slot, schedules.at(slot)?.nextAt, schedules.size], [0, 0, 2_000], 'the slot is used again');
});

table('`namesAfter` has the next names that fit, in order', () => {
  const schedules = new ScheduleTable();
  const names = shuffled(1_000);
  for (const name of names) schedules.set(name, templateOf(name.endsWith('3') ? 'ann' : 'bob'), {});
  const own = names.filter((name) => name.endsWith('3')).sort();
  const isOwn = ({ client }: ScheduleTemplate): boolean => client === 'ann';
  for (const max of [1, 3, 10, 99, 100, 101]) {
    const found: string[] = [];
    for (let page = ['']; page.length > 0; found.push(...page))
      page = schedules.namesAfter(found.at(-1) ?? '', max, isOwn);
    assert.equal(found, own, `pages of ${max}`);
  }
});

table.run();
