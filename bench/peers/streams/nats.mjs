// NATS core: nothing is stored, and a chunk that no reader takes in time is gone. `node nats.mjs worker <port>` is the worker process.
import { connect, StringCodec } from 'nats';
import { ChunkTexts } from '../../dist/suites/streaming/chunk-text.js';

const codec = StringCodec();
/** Chunks between two round trips to the server: without them the server cuts off a reader that falls behind. */
const FLUSHED = 1_000;

export async function open({ port }) {
  const connection = await connect({ servers: `127.0.0.1:${port}` });
  let streams = 0;
  return {
    async read(range, take) {
      streams += 1;
      const stream = `bench.chunks.${streams}`;
      const chunks = connection.subscribe(stream, { max: range.count });
      await connection.flush();
      connection.publish('bench.requests', codec.encode(JSON.stringify({ ...range, stream })));
      for await (const { data } of chunks) take(codec.decode(data));
    },
    close: () => connection.close(),
  };
}

if (process.argv[2] === 'worker') {
  const connection = await connect({ servers: `127.0.0.1:${process.argv[3]}` });
  const requests = connection.subscribe('bench.requests');
  await connection.flush();
  process.send?.('ready');
  for await (const { data } of requests) {
    const { stream, first, count, bytes } = JSON.parse(codec.decode(data));
    const texts = new ChunkTexts(bytes);
    for (let number = first; number < first + count; number += 1) {
      connection.publish(stream, codec.encode(texts.textOf(number)));
      if (number % FLUSHED === 0) await connection.flush();
    }
    await connection.flush();
  }
}
