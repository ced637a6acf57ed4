import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ThreadWatch } from '#src/actors/thread-watch.js';

const watches = suite('watch of a thread');

/** Notes of a thread that the test writes. */
class Notes {
  looks = 0;
  begun = 0;
  limitMs: number | undefined = undefined;
  message: object | undefined = undefined;
}

function watchOf(limits: { readonly reportMs: number; readonly killMs?: number }): {
  readonly notes: Notes;
  readonly watch: ThreadWatch;
} {
  const notes = new Notes();
  const both = { reportMs: limits.reportMs, killMs: limits.killMs };
  return {
    notes,
    watch: new ThreadWatch(notes as unknown as ConstructorParameters<typeof ThreadWatch>[0], both),
  };
}

watches('a thread that does not look for records is reported once, and again after it has looked', () => {
  const { notes, watch } = watchOf({ reportMs: 1_000 });
  notes.message = {};
  assert.is(watch.check(false, 0), undefined);
  assert.is(watch.check(false, 900), undefined);
  assert.equal(watch.check(false, 1_100), { ms: 1_100, limitMs: undefined });
  assert.is(watch.check(false, 60_000), undefined, 'once');
  notes.looks += 1;
  assert.is(watch.check(false, 61_000), undefined);
  assert.equal(watch.check(false, 62_500), { ms: 1_500, limitMs: undefined });
});

watches(
  'a thread that sleeps with nothing begun is idle; one that was woken and does not look is not',
  () => {
    const { notes, watch } = watchOf({ reportMs: 1_000, killMs: 2_000 });
    for (let now = 0; now < 10_000; now += 250) assert.is(watch.check(true, now), undefined);
    assert.is(watch.check(false, 10_000), undefined);
    assert.equal(watch.check(false, 11_000)?.limitMs, undefined);
    assert.is(watch.check(false, 12_000)?.limitMs, 2_000);
    notes.looks += 1;
    notes.message = {};
    assert.is(watch.check(true, 13_000), undefined);
    assert.ok(watch.check(true, 14_500) !== undefined, 'a timer of the thread has begun a message');
  },
);

watches(
  'the limit of a handler counts from its own beginning, and ends the thread without blockedKillMs',
  () => {
    const { notes, watch } = watchOf({ reportMs: 60_000 });
    notes.message = {};
    assert.is(watch.check(false, 0), undefined);
    notes.begun += 1;
    notes.limitMs = 500;
    assert.is(watch.check(false, 5_000), undefined, 'it has just begun');
    assert.is(watch.check(false, 5_400), undefined);
    assert.equal(watch.check(false, 5_600), { ms: 600, limitMs: 500 });
  },
);

watches('the thread that takes the place of a blocked one has its own time', () => {
  const { notes, watch } = watchOf({ reportMs: 60_000, killMs: 500 });
  assert.is(watch.check(false, 0), undefined);
  assert.is(watch.check(false, 600)?.limitMs, 500);
  watch.begin();
  assert.is(watch.check(false, 900), undefined, 'it has not looked for records yet, like the one before');
  assert.is(watch.check(false, 1_300), undefined);
  notes.looks += 1;
  assert.is(watch.check(false, 1_500), undefined);
  assert.is(watch.check(false, 2_100)?.limitMs, 500);
});

watches.run();
