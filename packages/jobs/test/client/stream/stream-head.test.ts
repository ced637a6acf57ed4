import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ReaderTable } from '#src/client/stream/reader-table.js';
import { readHead } from '#src/client/stream/stream-head.js';
import type { StreamItem } from '#src/protocol/stream-messages.js';

const heads = suite('stream heads');

const START = { attempt: 0, offset: 0 };
const DATA: StreamItem = { kind: 'data', attempt: 1, first: 0, chunks: ['"a"', '"b"'] };
const RESET: StreamItem = { kind: 'reset', attempt: 2 };
const outcome = { job: 7, state: 'done', result: undefined, reason: '', failure: undefined } as const;
const END: StreamItem = { kind: 'end', streaming: 'response', outcome };

/** The readers of a client, and its requests to the leader. */
function rig() {
  const requests: string[] = [];
  const calls = {
    readStream: ({ reader, attempt, offset }: { reader: number; attempt: number; offset: number }) =>
      void requests.push(`read ${reader} from ${attempt}/${offset}`),
    streamConsumed: () => undefined,
    stopStream: (reader: number) => void requests.push(`stop ${reader}`),
  };
  return { table: new ReaderTable(), calls, requests };
}

heads('a head has what came first; the reader of it is stopped, and the next goes on behind it', async () => {
  const { table, calls, requests } = rig();
  const reading = readHead(table.open(calls, 7, START), START, undefined);
  table.streamed(1, [DATA, RESET]);
  const head = await reading;
  assert.equal(requests, ['read 1 from 0/0', 'stop 1']);
  table.streamed(1, [DATA]);
  const { items } = table.open(calls, 7, head.next, head);
  assert.equal(requests.at(-1), 'read 2 from 2/0');
  table.streamed(2, [END]);
  assert.equal([items.take(), items.take(), items.take(), items.take()], [DATA, RESET, END, undefined]);
});

heads('a head with the end is the whole stream, and nothing is requested for it', async () => {
  const { table, calls, requests } = rig();
  const opened = table.open(calls, 7, START);
  table.streamed(1, [DATA, END]);
  const head = await readHead(opened, START, undefined);
  const { items, stop } = table.open(calls, 7, head.next, head);
  assert.equal([items.take(), items.take()], [DATA, END]);
  stop();
  assert.equal(requests, ['read 1 from 0/0', 'stop 1']);
});

heads('a signal ends the wait for a head, and its reader', async () => {
  const { table, calls, requests } = rig();
  const stop = new AbortController();
  const reading = readHead(table.open(calls, 7, START), START, stop.signal);
  stop.abort(new Error('no more'));
  const error = await reading.then(
    () => new Error('it resolved'),
    (reason: unknown) => reason as Error,
  );
  assert.is(error.message, 'no more');
  assert.equal(requests, ['read 1 from 0/0', 'stop 1']);
});

heads.run();
