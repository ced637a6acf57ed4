import { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';

/** Reads ahead by one chunk: the window of the reader is the buffer. */
export function readableOf(chunks: AsyncGenerator<unknown, void, void>): Readable {
  return Readable.from(chunks, { objectMode: true, highWaterMark: 1 });
}

export function webStreamOf<T>(chunks: AsyncGenerator<T, void, void>): ReadableStream<T> {
  return new ReadableStream<T>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await chunks.return();
      },
    },
    { highWaterMark: 0 },
  );
}
