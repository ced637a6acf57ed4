import { createSystem, nodeHost } from '@troupe/core';
import type { Connection } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SessionsActor, type SpawnSession } from '#src/server/session-actor.js';

const sessions = suite('sessions');

/** Only what the actor uses of a connection. */
function connection(closed: string[], name: string): Connection {
  return { close: () => closed.push(name) } as unknown as Connection;
}

sessions(
  'a failed session ends alone, with its connection; other sessions and the system go on',
  async () => {
    await using system = createSystem({
      host: { ...nodeHost, log: () => undefined },
      supervise: { decide: () => 'escalate' },
    });
    const spawn = await new Promise<SpawnSession>((onReady) => {
      system.spawn(SessionsActor, { args: { onReady } });
    });
    const closed: string[] = [];
    const delivered: unknown[] = [];
    const bad = spawn({
      connection: connection(closed, 'bad'),
      peer: {
        deliver: () => {
          throw new Error('cannot be encoded');
        },
      },
    });
    const good = spawn({
      connection: connection(closed, 'good'),
      peer: { deliver: (message) => delivered.push(message) },
    });
    bad.tell.deliver('x');
    good.tell.deliver('y');
    while (closed.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    good.tell.deliver('z');
    while (delivered.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    assert.equal(delivered, ['y', 'z']);
    assert.ok(closed.every((name) => name === 'bad'));
  },
);

sessions.run();
