// NATS JetStream with file storage and its default sync interval of two minutes, which is not durable.
import { AckPolicy, connect, StringCodec } from 'nats';
import { resultOf } from '../../dist/suites/jobs/payload.js';

const codec = StringCodec();
/** A message is an id, a space and JSON. */
const encode = (id, value) => codec.encode(`${id} ${JSON.stringify(value)}`);
const decode = (data) => {
  const text = codec.decode(data);
  const space = text.indexOf(' ');
  return { id: text.slice(0, space), value: JSON.parse(text.slice(space + 1)) };
};

export async function open({ port }) {
  const connection = await connect({ servers: `127.0.0.1:${port}` });
  const manager = await connection.jetstreamManager();
  await manager.streams.add({
    name: 'BENCH',
    subjects: ['bench.jobs'],
    retention: 'workqueue',
    storage: 'file',
  });
  await manager.consumers.add('BENCH', {
    durable_name: 'workers',
    ack_policy: AckPolicy.Explicit,
    max_ack_pending: 5_000,
  });
  const stream = connection.jetstream();
  const waiting = new Map();
  let next = 0;
  connection.subscribe('bench.done', {
    callback: (_error, message) => {
      const { id, value } = decode(message.data);
      waiting.get(id)?.(value);
      waiting.delete(id);
    },
  });
  return {
    async run(payload) {
      next += 1;
      const id = String(next);
      const answered = new Promise((resolve) => waiting.set(id, resolve));
      const published = stream.publish('bench.jobs', encode(id, payload), { timeout: 60_000 });
      const [result] = await Promise.all([answered, published]);
      return result;
    },
    close: () => connection.close(),
  };
}

if (process.argv[2] === 'worker') {
  const connection = await connect({ servers: `127.0.0.1:${process.argv[3]}` });
  const stream = connection.jetstream();
  const consumer = await stream.consumers.get('BENCH', 'workers');
  process.send?.('ready');
  await consumer.consume({
    max_messages: 1_000,
    callback: (message) => {
      const { id, value } = decode(message.data);
      const result = resultOf(value);
      message.ack();
      connection.publish('bench.done', encode(id, result));
    },
  });
}
