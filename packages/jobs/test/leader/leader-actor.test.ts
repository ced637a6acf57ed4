// The leader as an actor: which messages it leaves behind, and what its failures do.
import { type ActorRef, defineActor } from '@troupe/core';
import { defineJob, handle, type Journal, type OpenJournal } from '@troupe/jobs';
import { memoryJournal } from '@troupe/jobs/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { LeaderActor } from '#src/leader/leader-actor.js';
import { connectClient, embedded, startLeader, startWorker } from '../checked-processes.js';
import { NoDeadLetters, systemOf } from '../no-dead-letters.js';
import { anything } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';

const leaders = suite('leader actor');

const Echo = defineJob('actor.echo', { input: anything, output: anything });
const echo = handle(Echo, (input) => input);

const inMemory = (): OpenJournal => memoryJournal({ entries: [] }, (run) => setImmediate(run));

/** A journal in memory whose appends fail from the second one on; the first is that of the start. */
function failingJournal(): OpenJournal {
  return (reader, done, owner) => {
    const opened = (error: Error | null, journal?: Journal): void => {
      if (journal === undefined) return done(error);
      let appends = 0;
      const append: Journal['append'] = (entries, stored, to) => {
        appends += 1;
        if (appends === 1) journal.append(entries, stored, to);
        else setImmediate(() => to.tell.durable({ error: new Error('EIO'), firstLsn: 0 }));
      };
      done(null, { ...journal, append });
    };
    inMemory()(reader, opened, owner);
  };
}

leaders('an embedded leader that serves, drains and closes leaves no dead letter', async () => {
  await using folder = await tempFolder();
  const app = await embedded({ dir: folder.path });
  const letters = new NoDeadLetters(systemOf(app));
  const client = app.client();
  app.worker({ handlers: [echo] });
  assert.is(await client.run(Echo, 1), 1);
  const later = await client.submit(Echo, 2, { runAfterMs: 60_000 });
  await later.cancel();
  const underWay = client.submit(Echo, 3).then(
    () => 'accepted',
    () => 'refused',
  );
  await app.close();
  await underWay;
  letters.check();
});

leaders('a leader on a socket that loses its peers and closes leaves no dead letter', async () => {
  await using folder = await tempFolder();
  const leader = await startLeader({
    dir: folder.path,
    onFatal: (error) => assert.unreachable(error.message),
  });
  const letters = new NoDeadLetters(systemOf(leader));
  const { address } = leader;
  {
    await using worker = await startWorker({ address, name: 'w', handlers: [echo] });
    await using client = await connectClient({ address });
    assert.is(await client.run(Echo, 1), 1);
    assert.ok(worker);
  }
  await leader.close();
  letters.check();
});

leaders('a leader that fails ends its system: its state must come from the disk', async () => {
  const fatal: Error[] = [];
  const app = await embedded({ journal: inMemory(), onFatal: (error) => fatal.push(error) });
  const { leader } = app as unknown as { leader: ActorRef<typeof LeaderActor> };
  const system = systemOf(app);
  leader.tell.helloClient({ hello: undefined as never, port: { ref: leader, offer: () => 'accepted' } });
  const { cause } = await system.whenStopped;
  assert.instance(cause, Error);
  assert.is(fatal.length, 1);
});

leaders('a log that fails is reported once, and nothing of the append is acknowledged', async () => {
  const failed = await new Promise<Error>((resolve) => {
    void embedded({ journal: failingJournal(), onFatal: resolve }).then((app) => {
      app
        .client()
        .submit(Echo, 1)
        .then(
          () => assert.unreachable('a receipt without a durable record'),
          () => undefined,
        );
    });
  });
  assert.is((failed as { code?: string }).code, 'ERR_JOURNAL_FAILED');
});

leaders('an actor of the log that fails ends the system of its leader', async () => {
  const FailingLog = defineActor('log', {
    handlers: {
      write() {
        throw new Error('EIO');
      },
    },
  });
  const fatal: Error[] = [];
  const journal: OpenJournal = (reader, done, owner) => {
    const log = owner.spawn(FailingLog, { name: 'log' });
    const opened = (error: Error | null, memory?: Journal): void => {
      if (memory === undefined) return done(error);
      let appends = 0;
      const append: Journal['append'] = (entries, stored, to) => {
        appends += 1;
        if (appends === 1) memory.append(entries, stored, to);
        else log.tell.write();
      };
      done(null, { ...memory, append });
    };
    inMemory()(reader, opened, owner);
  };
  const app = await embedded({ journal, onFatal: (error) => fatal.push(error) });
  const submitted = app
    .client()
    .submit(Echo, 1)
    .then(
      () => 'acknowledged',
      () => 'refused',
    );
  const { cause } = await systemOf(app).whenStopped;
  assert.instance(cause, Error);
  assert.is(fatal.length, 1);
  assert.is(await submitted, 'refused');
});

leaders.run();
