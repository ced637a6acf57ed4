import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { PeerMessages } from '#src/leader/leader-protocol.js';
import { routePeerMessages } from '#src/leader/route-peer-messages.js';
import type { ClientMessage } from '#src/protocol/client/client-messages.js';
import type { PeerPort } from '#src/protocol/leader-interface.js';
import type { WorkerMessage } from '#src/protocol/worker/worker-messages.js';

const routes = suite('route peer messages');

/** Methods of a ref that return their own name. */
const methods = new Proxy({}, { get: (_target, name) => () => name }) as PeerMessages<string>;
const port = {} as PeerPort<never>;

routes('each message of a client has a handler of its own name', () => {
  const { fromClient } = routePeerMessages(methods);
  const route = (message: object): string => fromClient({ message: message as ClientMessage, port });
  const kinds = ['define', 'submit', 'submit_all', 'await', 'heartbeat', 'close'];
  assert.equal(
    kinds.map((kind) => route({ kind })),
    ['define', 'submit', 'submitAll', 'awaitOutcomes', 'clientHeartbeat', 'endClient'],
  );
  const requests = [
    'cancel',
    'inspect',
    'input',
    'list',
    'overview',
    'actors',
    'redrive',
    'purge',
    'dead-attempts',
  ];
  assert.equal(
    requests.map((kind) => route({ kind: 'call', call: 1, request: { kind } })),
    [
      'cancel',
      'inspect',
      'requestInput',
      'list',
      'requestOverview',
      'requestActors',
      'redrive',
      'purge',
      'deadAttempts',
    ],
  );
});

routes('so has each message of a worker', () => {
  const { fromWorker, fromHeartbeat } = routePeerMessages(methods);
  const kinds: WorkerMessage['kind'][] = ['report', 'drain'];
  assert.equal(
    kinds.map((kind) => fromWorker({ message: { kind } as WorkerMessage, port })),
    ['report', 'drainWorker'],
  );
  assert.is(fromHeartbeat({ report: { blockedMs: 1 }, port }), 'loopBlocked');
});

routes.run();
