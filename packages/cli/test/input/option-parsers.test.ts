import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { duration, durationText } from '#src/input/option-parsers.js';

const parsers = suite('option parsers');

parsers('`duration` takes ms, s, m, h and d; a plain number is milliseconds', () => {
  const parse = duration(0, 366 * 86_400_000);
  const table: readonly [string, number][] = [
    ['0', 0],
    ['250', 250],
    ['500ms', 500],
    ['1s', 1_000],
    ['1.5s', 1_500],
    ['2m', 120_000],
    ['3h', 10_800_000],
    ['14d', 1_209_600_000],
  ];
  for (const [text, ms] of table) assert.is(parse(text), ms, text);
});

parsers('`duration` refuses other units, fractions of a millisecond and times outside its range', () => {
  const parse = duration(10, 60_000);
  for (const text of ['', 's', '1w', '-1s', '1e3', '0.5ms', '1 s', '9', '61s', 'Infinity'])
    assert.throws(() => parse(text), /such as 500ms, 1s or 2m \(a plain number is milliseconds\)/, text);
});

parsers('a duration as text is what an option takes, exactly', () => {
  const parse = duration(0, 366 * 86_400_000);
  for (const [ms, text] of [
    [0, '0ms'],
    [1_500, '1500ms'],
    [90_000, '90s'],
    [300_000, '5m'],
    [86_400_000, '1d'],
  ] as const)
    assert.equal([durationText(ms), parse(text)], [text, ms]);
});

parsers.run();
