import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ReaderProgress } from '#src/client/machine/reader-progress.js';
import type { Payload } from '#src/job/payload/payload.js';
import type { StreamItem } from '#src/protocol/stream-messages.js';

const readers = suite('progress of a reader');

const REQUEST = { reader: 1, job: 9, attempt: 0, offset: 0, window: 1_000 };

function data(attempt: number, first: number, ...chunks: readonly Payload[]): StreamItem {
  return { kind: 'data', attempt, first, chunks };
}

function progressOf(...items: readonly StreamItem[]): ReaderProgress {
  const progress = new ReaderProgress(REQUEST);
  assert.is(progress.take(items), items);
  return progress;
}

readers('a new session asks for the chunks that its caller has not taken', () => {
  const progress = progressOf(data(3, 0, 'a', 'b', 'c'));
  assert.equal(progress.renewal, { ...REQUEST, attempt: 3, offset: 0 });
  progress.consume({ attempt: 3, offset: 2 });
  assert.equal(progress.renewal, { ...REQUEST, attempt: 3, offset: 2 });
});

readers('chunks that come once more are passed over', () => {
  const progress = progressOf(data(1, 0, 'a', 'b'), data(1, 2, 'c'));
  assert.equal(progress.take([data(1, 0, 'a', 'b')]), []);
  assert.equal(progress.take([data(1, 2, 'c', 'd'), data(1, 4, 'e')]), [data(1, 3, 'd'), data(1, 4, 'e')]);
});

readers('a gap of chunks that are here is none, and a longer one begins behind them', () => {
  const gap = (from: number, to: number | undefined): StreamItem => ({ kind: 'gap', attempt: 1, from, to });
  const progress = progressOf(data(1, 0, 'a', 'b', 'c'));
  assert.equal(progress.take([gap(0, 2), data(1, 2, 'c')]), []);
  assert.equal(progress.take([gap(1, 5), data(1, 5, 'f')]), [gap(3, 5), data(1, 5, 'f')]);
  assert.equal(progress.take([gap(4, undefined)]), [gap(6, undefined)]);
});

readers('a caller that is in an earlier attempt gets the reset once', () => {
  const reset: StreamItem = { kind: 'reset', attempt: 2 };
  const progress = progressOf(data(1, 0, 'a', 'b'), reset, data(2, 0, 'A'));
  progress.consume({ attempt: 1, offset: 1 });
  assert.equal(progress.renewal, { ...REQUEST, attempt: 1, offset: 1 });
  assert.equal(progress.take([reset, data(2, 0, 'A', 'B')]), [data(2, 1, 'B')]);
});

readers('a request without an attempt keeps its offset in the first that it meets', () => {
  const progress = new ReaderProgress({ ...REQUEST, offset: 4 });
  assert.equal(progress.renewal, { ...REQUEST, offset: 4 });
  progress.take([data(2, 4, 'e')]);
  assert.equal(progress.renewal, { ...REQUEST, attempt: 2, offset: 4 });
});

readers.run();
