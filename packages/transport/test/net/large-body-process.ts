// One end of a body of many megabytes, in a process with a small heap. Its last message is a report.

import { createHash } from 'node:crypto';
import { bodyFromFile, Dialer, Listener, NO_HEADER, nodeClock, nodeNet } from '@troupe/transport';

const [role, argument = ''] = process.argv.slice(2);
let peakBytes = 0;
const baseBytes = process.memoryUsage.rss();
const sampling = setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss() - baseBytes);
}, 5);

function report(facts: object): void {
  clearInterval(sampling);
  process.send?.({ ...facts, extraBytes: peakBytes });
}

if (role === 'receiver') {
  const listener = new Listener({
    net: nodeNet,
    clock: nodeClock,
    onListening: (address) => process.send?.(address),
    onConnection: (connection) => ({
      onFrame: (frame) => {
        const hash = createHash('sha256');
        let bytes = 0;
        const body = frame.incoming;
        body?.read({
          onChunk: (chunk) => {
            hash.update(chunk);
            bytes += chunk.length;
            body.consumed(chunk.length);
          },
          onEnd: () => {
            report({ bytes, hash: hash.digest('hex') });
            connection.close();
            listener.close();
          },
          onFail: (error) => {
            throw error;
          },
        });
      },
      onClose: () => undefined,
    }),
  });
} else {
  const [path = '', port = ''] = argument.split('|');
  const dialer = new Dialer({
    net: nodeNet,
    clock: nodeClock,
    address: { port: Number(port) },
    role: 'peer',
    onConnection: (connection) => {
      connection.writeBody(64, NO_HEADER, bodyFromFile(path));
      return {
        onFrame: () => undefined,
        onClose: () => {
          report({});
          dialer.close();
        },
      };
    },
  });
}
