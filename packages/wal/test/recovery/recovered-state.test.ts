// timeout: 120s
// After random operations and any end, the recovered state equals the live state.
import { inlineSnapshotBuilder, type Log } from '@troupe/wal';
import { PERSISTENCE_MODELS, type PersistenceModel } from '@troupe/wal/testing';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type DigestState, digestFold } from '../digest-fold.js';
import { LogHarness } from '../log-harness.js';

const recovery = suite('recovered state');

type Command =
  | { readonly kind: 'append'; readonly bytes: number }
  | { readonly kind: 'together'; readonly count: number }
  | { readonly kind: 'settle' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'snapshot' }
  | { readonly kind: 'reopen'; readonly codec: 'binary' | 'jsonl' }
  | { readonly kind: 'crash'; readonly model: PersistenceModel };

const commands: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('append' as const), bytes: fc.integer({ min: 0, max: 1_500 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('together' as const), count: fc.integer({ min: 1, max: 6 }) }),
  },
  { weight: 4, arbitrary: fc.constant({ kind: 'settle' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'wait' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'snapshot' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('reopen' as const),
      codec: fc.constantFrom('binary' as const, 'jsonl' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('crash' as const),
      model: fc.constantFrom(...PERSISTENCE_MODELS),
    }),
  },
);

/** A log with the live state of its user, who applies records once they are durable. */
class LiveLog {
  harness = new LogHarness();
  log: Log;
  state = digestFold.empty();

  constructor() {
    this.log = this.open('binary');
  }

  run(command: Command, turn: number): void {
    const { log, harness } = this;
    if (command.kind === 'append') {
      const payload = Buffer.alloc(command.bytes, turn);
      log.append(payload, (error, lsn) => this.apply(error, lsn, payload));
    } else if (command.kind === 'together') {
      const payloads = Array.from({ length: command.count }, (_, index) => Buffer.from(`${turn}.${index}`));
      log.appendAll(payloads, (error, last) => {
        for (const [index, payload] of payloads.entries())
          this.apply(error, last - payloads.length + 1 + index, payload);
      });
    } else if (command.kind === 'settle') harness.settle();
    else if (command.kind === 'wait') harness.advance(100);
    else if (command.kind === 'snapshot') {
      log.makeSnapshot(() => undefined);
      harness.settle();
    } else if (command.kind === 'reopen') {
      harness.wait<void>((done) => log.close(done));
      this.log = this.open(command.codec);
      this.compare('after a clean shutdown');
    } else this.crash(command.model, turn);
  }

  /** A power cut: unacknowledged records may be lost, and the user continues with the recovered state. */
  private crash(model: PersistenceModel, turn: number): void {
    const before = this.state;
    this.harness = new LogHarness({ disk: this.harness.storage.disk.afterCrash(model, turn), seed: turn });
    this.log = this.open('binary');
    const recovered = this.recovered();
    assert.ok(recovered.count >= before.count, `${before.count} applied, ${recovered.count} recovered`);
    if (recovered.count === before.count) assert.is(recovered.digest, before.digest);
    this.state = recovered;
  }

  private compare(when: string): void {
    const recovered = this.recovered();
    assert.is(recovered.count, this.state.count, when);
    assert.is(recovered.digest, this.state.digest, when);
  }

  private recovered(): DigestState {
    return this.harness.wait<DigestState>((done) => this.log.restore(digestFold, done));
  }

  private apply(error: Error | null, lsn: number, payload: Buffer): void {
    if (error === null) digestFold.apply(this.state, lsn, payload, 0, undefined);
  }

  private open(codec: 'binary' | 'jsonl'): Log {
    const { harness } = this;
    return harness.open({
      codec,
      snapshotBuilder: inlineSnapshotBuilder(harness.storage, digestFold),
      snapshotEveryBytes: 60_000,
    });
  }
}

recovery('the recovered state equals the live state', () => {
  fc.assert(
    fc.property(fc.array(commands, { minLength: 5, maxLength: 60 }), (script) => {
      const live = new LiveLog();
      for (const [turn, command] of [
        ...script,
        { kind: 'settle' } as const,
        { kind: 'reopen', codec: 'binary' } as const,
      ].entries()) {
        live.run(command, turn + 1);
      }
    }),
    { numRuns: 400, seed: 20_260 },
  );
});

recovery.run();
