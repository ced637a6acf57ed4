import { OptionError } from '@troupe/core';
import {
  array,
  callback,
  checkOption,
  checkOptionNames,
  checkOptions,
  flag,
  listOf,
  name,
  number,
  numberAbove,
  type OptionRule,
  object,
  oneOf,
  options,
  text,
  wholeNumber,
} from '@troupe/core/option-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const optionCheck = suite('option-check');

optionCheck('each rule takes the values it names and refuses the others', () => {
  const cases: readonly (readonly [OptionRule, legal: readonly unknown[], illegal: readonly unknown[]])[] = [
    [object, [{}], [null, [], 1, undefined]],
    [array, [[]], [{}, 'a', undefined]],
    [callback, [() => 1], [{}, 'f', undefined]],
    [flag, [true, false], [0, 'true', undefined]],
    [name, ['a'], ['', 1, undefined]],
    [text(2), ['a', 'ab', 'ä'], ['', 'abc', 'äb', 1]],
    [wholeNumber(1), [1, 2 ** 50], [0, 1.5, Number.NaN, 2 ** 60, '1', Number.POSITIVE_INFINITY]],
    [wholeNumber(1, 3), [1, 3], [0, 4]],
    [number(0), [0, 0.5], [-1, Number.NaN, Number.POSITIVE_INFINITY, '1']],
    [number(0, 1), [0, 1], [1.5]],
    [numberAbove(0), [0.1], [0, Number.POSITIVE_INFINITY, Number.NaN]],
    [oneOf(['a', true]), ['a', true], ['b', false]],
    [listOf(name), [[], ['a']], ['a', ['']]],
  ];
  for (const [rule, legal, illegal] of cases) {
    for (const value of legal) assert.is(rule(value, 'x'), undefined, `${String(value)} is legal`);
    for (const value of illegal) assert.is.not(rule(value, 'x'), undefined, `${String(value)} is illegal`);
  }
});

optionCheck('checkOption returns a legal value and throws an OptionError for another', () => {
  assert.is(checkOption('size', 3, wholeNumber(1)), 3);
  assert.throws(
    () => checkOption('size', 0, wholeNumber(1)),
    (error: unknown) =>
      error instanceof OptionError && error.message === 'size: needed a whole number of at least 1, got 0',
  );
});

optionCheck('an object of options is refused for an unknown, a wrong or a missing one', () => {
  const rules = { size: wholeNumber(1), retry: options({ times: wholeNumber(0, 9) }) };
  const optionOf = (given: unknown, required: readonly string[] = []): string | undefined => {
    try {
      checkOptions('pool', given, rules, { required });
      return undefined;
    } catch (error) {
      return (error as OptionError).option;
    }
  };
  assert.is(optionOf({ size: 1, retry: { times: 2 } }), undefined);
  assert.is(optionOf({ size: undefined }), undefined, 'undefined is not given');
  assert.is(optionOf([]), 'pool');
  assert.is(optionOf({ sise: 1 }), 'pool.sise');
  assert.is(optionOf({ toString: 1 }), 'pool.toString');
  assert.is(optionOf({ retry: { times: 10 } }), 'pool.retry.times');
  assert.is(optionOf({}, ['size']), 'pool.size');
  assert.throws(() => checkOptionNames('pool', { sise: 1 }, ['size']), /pool\.sise: there is no such option/);
});

optionCheck('the caller chooses the error', () => {
  class OwnError extends Error {}
  const errorOf = ({ option, problem }: { option: string; problem: string }) =>
    new OwnError(`job ${option}: ${problem}`);
  assert.throws(
    () => checkOptions('mail', { retries: -1 }, { retries: wholeNumber(0) }, { errorOf }),
    (error: unknown) =>
      error instanceof OwnError && error.message === 'job mail.retries: needed a whole number of at least 0',
  );
});

optionCheck.run();
