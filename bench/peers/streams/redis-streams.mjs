// Redis Streams without persistence. XADD is pipelined by ioredis (`enableAutoPipelining`), XREAD takes up to COUNT entries.
// `node redis-streams.mjs worker <port>` is the worker process.
import { Redis } from 'ioredis';
import { ChunkTexts } from '../../dist/suites/streaming/chunk-text.js';

const REQUESTS = 'bench:requests';
/** Entries of one XREAD. */
const COUNT = 1_000;
/** XADDs that are not answered: the worker waits for the server, as it would for a slow reader. */
const OUTSTANDING = 2_000;
const connectionOf = (port, enableAutoPipelining = false) =>
  new Redis({ host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null, enableAutoPipelining });

export async function open({ port }) {
  const redis = connectionOf(port);
  await redis.ping();
  let streams = 0;
  return {
    async read({ first, count, bytes }, take) {
      streams += 1;
      const stream = `bench:chunks:${streams}`;
      await redis.xadd(REQUESTS, '*', 'stream', stream, 'first', first, 'count', count, 'bytes', bytes);
      let last = '0';
      for (let left = count; left > 0; ) {
        const [[, entries]] = await redis.xread('COUNT', COUNT, 'BLOCK', 0, 'STREAMS', stream, last);
        for (const [, fields] of entries) take(fields[1]);
        last = entries.at(-1)[0];
        left -= entries.length;
      }
      await redis.del(stream);
    },
    close: () => redis.disconnect(),
  };
}

async function write(redis, { stream, first, count, bytes }) {
  const texts = new ChunkTexts(bytes);
  const adding = [];
  for (let number = first; number < first + count; number += 1) {
    adding.push(redis.xadd(stream, '*', 'c', texts.textOf(number)));
    if (adding.length < OUTSTANDING) continue;
    // Half of them stay on the way.
    await Promise.all(adding.splice(0, OUTSTANDING / 2));
  }
  await Promise.all(adding);
}

if (process.argv[2] === 'worker') {
  const requests = connectionOf(process.argv[3]);
  const redis = connectionOf(process.argv[3], true);
  await redis.ping();
  process.send?.('ready');
  for (let last = '0'; ; ) {
    const [[, entries]] = await requests.xread('BLOCK', 0, 'STREAMS', REQUESTS, last);
    for (const [id, [, stream, , first, , count, , bytes]] of entries) {
      last = id;
      await write(redis, { stream, first: Number(first), count: Number(count), bytes: Number(bytes) });
    }
  }
}
