import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FeedSender } from '#src/client/machine/feed-sender.js';
import type { FeedRefusal, FeedState } from '#src/protocol/feed-messages.js';

const senders = suite('feed sender');

const WINDOW = 1_000_000;
const FULL: FeedRefusal = { code: 'ERR_QUEUE_FULL', problem: 'full', retryAfterMs: 1 };

function state(accepted: number, more: Partial<FeedState> = {}): FeedState {
  const base = { feed: 1, taken: 0, window: WINDOW, phase: 'running', isEnded: false } as const;
  return { ...base, accepted, refusal: undefined, ...more };
}

function senderOf(...payloads: readonly string[]): FeedSender {
  const sender = new FeedSender(1, 5);
  payloads.forEach((payload, call) => {
    sender.add({ feed: 1, call, payload, final: false });
  });
  return sender;
}

const calls = (drafts: readonly { readonly call: number }[]): number[] => drafts.map(({ call }) => call);

senders('it opens the feed first, and goes on with the number that the leader names', () => {
  const sender = senderOf('1');
  assert.equal(sender.next(), { kind: 'open_feed', feed: 1, job: 5 });
  assert.is(sender.next(), undefined);
  sender.received(state(7));
  assert.equal(sender.next(), { kind: 'feed', feed: 1, job: 5, first: 7, items: ['1'], final: false });
});

senders('a feed that the leader does not open refuses its items, and asks again with the next one', () => {
  const sender = senderOf('1');
  sender.next();
  assert.equal(calls(sender.received(state(0, { refusal: FULL })).refused), [0]);
  assert.is(sender.next(), undefined);
  sender.add({ feed: 1, call: 1, payload: '2', final: false });
  assert.equal(sender.next(), { kind: 'open_feed', feed: 1, job: 5 });
  sender.received(state(3));
  const message = sender.next();
  assert.equal(message?.kind === 'feed' && [message.first, message.items], [3, ['2']]);
});

senders('one message is under way, and the next has everything that waited', () => {
  const sender = senderOf('1');
  sender.next();
  sender.received(state(0));
  sender.next();
  for (const call of [1, 2, 3]) sender.add({ feed: 1, call, payload: `${call}`, final: false });
  assert.is(sender.next(), undefined);
  sender.received(state(0, { taken: 4 }));
  assert.is(sender.next(), undefined, 'a state that does not accept it is no answer');
  assert.equal(calls(sender.received(state(1)).answered), [0]);
  const message = sender.next();
  assert.equal(message?.kind === 'feed' && [message.first, message.items], [1, ['1', '2', '3']]);
});

senders('a refusal concerns the message under way alone, and its numbers are free again', () => {
  const sender = senderOf('1', '2');
  sender.next();
  sender.received(state(0));
  sender.next();
  sender.add({ feed: 1, call: 2, payload: '3', final: false });
  const { answered, refused } = sender.received(state(0, { refusal: FULL }));
  assert.equal([calls(answered), calls(refused)], [[], [0, 1]]);
  assert.equal(sender.next(), { kind: 'feed', feed: 1, job: 5, first: 0, items: ['3'], final: false });
});

senders('a new session repeats what has no answer, under its numbers, or opens the feed again', () => {
  const sender = senderOf('1', '2');
  sender.next();
  sender.received(state(0));
  sender.next();
  sender.rewind();
  assert.equal(sender.next(), { kind: 'feed', feed: 1, job: 5, first: 0, items: ['1', '2'], final: false });
  assert.equal(calls(sender.received(state(2)).answered), [0, 1]);
  sender.rewind();
  assert.equal(sender.next(), { kind: 'open_feed', feed: 1, job: 5 });
});

senders('a withdrawn item that was sent keeps its number, another one is left out', () => {
  const sender = senderOf('1');
  sender.next();
  sender.received(state(0));
  sender.next();
  sender.add({ feed: 1, call: 1, payload: '2', final: false });
  sender.add({ feed: 1, call: 2, payload: '3', final: false });
  sender.withdraw(0);
  sender.withdraw(1);
  sender.rewind();
  assert.equal(sender.next(), { kind: 'feed', feed: 1, job: 5, first: 0, items: ['1', '3'], final: false });
});

senders('the window and the size of a message hold items back; one always goes', () => {
  const large = 'x'.repeat(200_000);
  const sender = senderOf(large, large);
  sender.next();
  sender.received(state(0, { window: 0 }));
  assert.is(sender.next(), undefined);
  sender.received(state(0, { window: 1 }));
  const first = sender.next();
  assert.is(first?.kind === 'feed' && first.items.length, 1);
  sender.received(state(1));
  const second = sender.next();
  assert.is(second?.kind === 'feed' && second.first, 1);
});

senders('the end takes a number of its own, with an item or alone', () => {
  const sender = senderOf('1');
  sender.add({ feed: 1, call: 1, payload: '2', final: true });
  sender.add({ feed: 1, call: 2, payload: undefined, final: true });
  sender.next();
  sender.received(state(0));
  assert.equal(sender.next(), { kind: 'feed', feed: 1, job: 5, first: 0, items: ['1', '2'], final: true });
  assert.equal(calls(sender.received(state(3)).answered), [0, 1]);
  assert.equal(sender.next(), { kind: 'feed', feed: 1, job: 5, first: 3, items: [], final: true });
});

senders.run();
