import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { NEVER, recurrenceOf } from '#src/leader/schedules/recurrence.js';
import { ruleProblem } from '#src/leader/schedules/rule-problem.js';
import type { ScheduleRule } from '#src/ledger/schedules/schedule-rule.js';

const recurrence = suite('recurrence of a schedule');

function rule(fields: Partial<ScheduleRule>): ScheduleRule {
  return { overlap: 'skip', catchUpMax: 1, ...fields };
}

/** The next instants, as texts without `:00.000Z`. */
function instants(fields: Partial<ScheduleRule>, from: string, count: number): string[] {
  const of = recurrenceOf(rule(fields));
  const texts: string[] = [];
  let at = Date.parse(from);
  for (let i = 0; i < count; i += 1) {
    at = of.nextAfter(at);
    texts.push(new Date(at).toISOString().replace(/(:00)?\.000Z$/, ''));
  }
  return texts;
}

type Row = readonly [title: string, cron: string, zone: string, from: string, expected: readonly string[]];

const NEW_YORK = 'America/New_York';
const ROWS: readonly Row[] = [
  // The hour from 2 to 3 does not exist on 2026-03-08 in New York.
  [
    'a fixed time that does not exist is run at the end of the gap',
    '30 2 * * *',
    NEW_YORK,
    '2026-03-07T12:00Z',
    ['2026-03-08T07:00', '2026-03-09T06:30', '2026-03-10T06:30'],
  ],
  [
    'a repeated time that does not exist is not run',
    '*/15 2 * * *',
    NEW_YORK,
    '2026-03-08T06:00Z',
    ['2026-03-09T06:00', '2026-03-09T06:15'],
  ],
  [
    'an hourly run has its distance over a gap',
    '30 * * * *',
    NEW_YORK,
    '2026-03-08T06:00Z',
    ['2026-03-08T06:30', '2026-03-08T07:30', '2026-03-08T08:30'],
  ],
  // The hour from 1 to 2 comes twice on 2026-11-01 in New York.
  [
    'a fixed time that comes twice is run once, the first time',
    '30 1 * * *',
    NEW_YORK,
    '2026-10-31T12:00Z',
    ['2026-11-01T05:30', '2026-11-02T06:30'],
  ],
  [
    'a repeated time that comes twice is run both times',
    '*/30 1 * * *',
    NEW_YORK,
    '2026-11-01T04:45Z',
    ['2026-11-01T05:00', '2026-11-01T05:30', '2026-11-01T06:00', '2026-11-01T06:30', '2026-11-02T06:00'],
  ],
  [
    'an hourly run in Berlin goes over the gap',
    '0 * * * *',
    'Europe/Berlin',
    '2026-03-29T00:30Z',
    ['2026-03-29T01:00', '2026-03-29T02:00'],
  ],
  [
    'a daily run in Berlin follows its zone',
    '0 9 * * *',
    'Europe/Berlin',
    '2026-03-27T12:00Z',
    ['2026-03-28T08:00', '2026-03-29T07:00'],
  ],
  [
    'half an hour of daylight saving on Lord Howe Island',
    '0 9 * * *',
    'Australia/Lord_Howe',
    '2026-04-03T00:00Z',
    ['2026-04-03T22:00', '2026-04-04T22:30'],
  ],
  [
    'a zone of five and a half hours',
    '0 0 * * *',
    'Asia/Kolkata',
    '2026-01-01T00:00Z',
    ['2026-01-01T18:30', '2026-01-02T18:30'],
  ],
  [
    'a zone of fourteen hours is a day ahead',
    '0 0 1 1 *',
    'Pacific/Kiritimati',
    '2026-06-01T00:00Z',
    ['2026-12-31T10:00'],
  ],
  [
    'a zone that has skipped a day',
    '0 12 * * *',
    'Pacific/Apia',
    '2011-12-28T23:00Z',
    ['2011-12-29T22:00', '2011-12-30T22:00'],
  ],
  ['a leap day', '0 0 29 2 *', 'UTC', '2026-01-01T00:00Z', ['2028-02-29T00:00', '2032-02-29T00:00']],
  ['the years 2000 and 2100', '0 0 29 2 *', 'UTC', '2096-02-29T00:00Z', ['2104-02-29T00:00']],
  [
    'the last day of the month',
    '0 0 L * *',
    'UTC',
    '2028-01-31T00:00Z',
    ['2028-02-29T00:00', '2028-03-31T00:00'],
  ],
  ['the 31st', '0 0 31 * *', 'UTC', '2026-01-31T00:00Z', ['2026-03-31T00:00', '2026-05-31T00:00']],
  ['weekdays', '0 9 * * MON-FRI', 'UTC', '2026-11-20T09:00Z', ['2026-11-23T09:00', '2026-11-24T09:00']],
  [
    'six fields begin with seconds',
    '*/20 * * * * *',
    'UTC',
    '2026-01-01T00:00:50Z',
    ['2026-01-01T00:01', '2026-01-01T00:01:20'],
  ],
  ['a nickname', '@daily', 'UTC', '2026-01-01T00:00Z', ['2026-01-02T00:00']],
];

for (const [title, cron, zone, from, expected] of ROWS) {
  recurrence(`cron: ${title}`, () => {
    assert.equal(instants({ cron, zone }, from, expected.length), expected);
    const of = recurrenceOf(rule({ cron, zone }));
    const all = expected.map((text) => Date.parse(text.length === 16 ? `${text}:00Z` : `${text}Z`));
    const last = all.at(-1) as number;
    const found = of.latest(last, all.length).filter((at) => at >= (all[0] as number));
    assert.equal(found, all, 'and the instants backwards are the same');
    assert.is(of.latest(last - 1, 1)[0], all.at(-2) ?? of.latest(last - 1, 1)[0]);
  });
}

recurrence('every: instants are whole periods from the beginning', () => {
  const of = recurrenceOf(rule({ everyMs: 250, fromAt: 1_000 }));
  assert.equal([of.nextAfter(0), of.nextAfter(1_000), of.nextAfter(1_249)], [1_000, 1_250, 1_250]);
  assert.equal(of.latest(1_800, 3), [1_250, 1_500, 1_750]);
  assert.equal(of.latest(1_100, 3), [1_000]);
  assert.equal(of.latest(900, 3), []);
});

const BAD: readonly (readonly [rule: Partial<ScheduleRule>, problem: RegExp])[] = [
  [{}, /either cron or everyMs/],
  [{ cron: '@daily', everyMs: 1_000 }, /either cron or everyMs/],
  [{ cron: '61 * * * *' }, /minute: 61/],
  [{ cron: '* * *' }, /not five or six fields/],
  [{ cron: '2030-01-01T00:00:00' }, /not five or six fields/],
  [{ cron: '* * * * * * *' }, /not five or six fields/],
  [{ cron: '@never' }, /@never/],
  [{ cron: 'x'.repeat(10_000) }, /not five or six fields/],
  [{ cron: '0 0 30 2 *' }, /never comes/],
  [{ cron: '0 0 * * *', zone: 'Mars/Base' }, /zone 'Mars\/Base' is unknown/],
  [{ everyMs: 1_000, zone: 'UTC' }, /zone is given without cron/],
  [{ everyMs: 99 }, /everyMs is 99/],
  [{ everyMs: 1_000.5 }, /everyMs/],
  [{ cron: '@daily', fromAt: 1 }, /fromAt/],
  [{ everyMs: 1_000, jitterMs: -1 }, /jitterMs is -1/],
  [{ everyMs: 1_000, catchUpMax: 1_001 }, /catchUp is 1001/],
  [{ everyMs: 1_000, overlap: 'both' as 'skip' }, /overlap 'both'/],
];

for (const [fields, problem] of BAD)
  recurrence(`a bad rule has a problem: ${JSON.stringify(fields).slice(0, 60)}`, () => {
    assert.match(ruleProblem(rule(fields), Date.parse('2026-01-01T00:00Z')) ?? 'none', problem);
  });

recurrence('a good rule has none', () => {
  for (const [, cron, zone] of ROWS) assert.is(ruleProblem(rule({ cron, zone }), 0), undefined);
  assert.is(recurrenceOf(rule({ cron: '0 0 30 2 *' })).nextAfter(0), NEVER);
});

recurrence.run();
