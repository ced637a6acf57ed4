// RabbitMQ with a quorum queue and publisher confirms. Without noDelay, Nagle's algorithm would dominate.
import amqp from 'amqplib';
import { resultOf } from '../../dist/suites/jobs/payload.js';

const QUEUE = 'bench';
const encode = (value) => Buffer.from(JSON.stringify(value));
const decode = ({ content }) => JSON.parse(content.toString());
const connect = (port) => amqp.connect(`amqp://guest:guest@127.0.0.1:${port}`, { noDelay: true });
const declare = (channel) =>
  channel.assertQueue(QUEUE, { durable: true, arguments: { 'x-queue-type': 'quorum' } });

export async function open({ port }) {
  const connection = await connect(port);
  const channel = await connection.createConfirmChannel();
  await declare(channel);
  const { queue: replyTo } = await channel.assertQueue('', { exclusive: true });
  const waiting = new Map();
  let next = 0;
  await channel.consume(
    replyTo,
    (message) => {
      const id = message.properties.correlationId;
      waiting.get(id)?.(decode(message));
      waiting.delete(id);
    },
    { noAck: true },
  );
  return {
    async run(payload) {
      next += 1;
      const correlationId = String(next);
      const answered = new Promise((resolve) => waiting.set(correlationId, resolve));
      const confirmed = new Promise((resolve, reject) =>
        channel.sendToQueue(QUEUE, encode(payload), { persistent: true, replyTo, correlationId }, (error) =>
          error ? reject(error) : resolve(),
        ),
      );
      const [result] = await Promise.all([answered, confirmed]);
      return result;
    },
    close: () => connection.close(),
  };
}

if (process.argv[2] === 'worker') {
  const connection = await connect(process.argv[3]);
  const channel = await connection.createChannel();
  await declare(channel);
  await channel.prefetch(1_000);
  await channel.consume(QUEUE, (message) => {
    const { replyTo, correlationId } = message.properties;
    const result = resultOf(decode(message));
    channel.ack(message);
    channel.sendToQueue(replyTo, encode(result), { correlationId });
  });
  process.send?.('ready');
}
