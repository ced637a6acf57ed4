// The processes of hostile-peers.test.ts: the listener under attack, a healthy client that measures.

import { readdirSync } from 'node:fs';
import { bodyFromBytes, Dialer, IdentityStore, Listener, nodeClock, nodeNet } from '@troupe/transport';

const [role, argument = ''] = process.argv.slice(2);
const KEY = '11'.repeat(32);

function descriptors(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0;
}

if (role === 'listener') {
  const limits = JSON.parse(argument) as Record<string, number>;
  const bound: Record<string, number> = {};
  const onConnection: ConstructorParameters<typeof Listener>[0]['onConnection'] = (connection) => ({
    onFrame: (frame) => {
      // Type 66 gets a large reply, all others an echo.
      if (frame.type === 66) connection.write(66, { corrId: frame.header.msgId }, Buffer.alloc(100_000));
      else if (frame.incoming !== null)
        frame.incoming.read({
          onChunk: (chunk) => frame.incoming?.consumed(chunk.length),
          onEnd: () => undefined,
          onFail: () => undefined,
        });
      else connection.write(64, { corrId: frame.header.msgId }, frame.body);
    },
    onClose: () => undefined,
  });
  const reportBound = (name: string) => (address: object) => {
    bound[name] = 'port' in address ? Number(address.port) : 0;
    if (Object.keys(bound).length === 2) process.send?.(bound);
  };
  const open = new Listener({
    net: nodeNet,
    clock: nodeClock,
    limits,
    onListening: reportBound('open'),
    onConnection,
  });
  const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: KEY }] }]);
  new Listener({
    net: nodeNet,
    clock: nodeClock,
    limits,
    auth: { kind: 'hmac', identities },
    onListening: reportBound('guarded'),
    onConnection,
  });
  process.on('message', () =>
    process.send?.({ ...open.usage, descriptors: descriptors(), rssBytes: process.memoryUsage.rss() }),
  );
} else {
  let requestedAt = 0;
  let latencies: number[] = [];
  new Dialer({
    net: nodeNet,
    clock: nodeClock,
    address: { port: Number(argument) },
    role: 'client',
    onConnection: (connection) => {
      const request = (): void => {
        requestedAt = performance.now();
        connection.write(64, { msgId: 'h' }, Buffer.from('healthy'));
      };
      connection.writeBody(64, { msgId: 'b' }, bodyFromBytes(Buffer.alloc(1_000_000)));
      request();
      process.send?.('ready');
      return {
        onFrame: () => {
          latencies.push(performance.now() - requestedAt);
          setTimeout(request, 2);
        },
        onClose: (reason) => process.send?.({ lost: reason }),
      };
    },
  });
  process.on('message', () => {
    const sorted = latencies.sort((a, b) => a - b);
    latencies = [];
    process.send?.({
      count: sorted.length,
      p99: sorted[Math.floor(sorted.length * 0.99)] ?? Number.POSITIVE_INFINITY,
    });
  });
}
process.on('disconnect', () => process.exit());
