// Hot path: no allocation per message.
import { type Outcome, type PreparedRun, scaled } from '../workload.js';

/*
 * The floor of the core suite: each benchmark written by hand as a ring and a call through a field. It is no
 * actor system; it shows the limit of the machine for any system that delivers a message after the send
 * returns.
 */

type Receive = (payload: unknown) => void;

const ringSize = 1 << 16;
const ringMask = ringSize - 1;
const receivers: (Receive | undefined)[] = new Array(ringSize).fill(undefined);
// The ring holds any value and clears taken slots, as a mailbox must; a ring of numbers would be faster.
const payloads: unknown[] = new Array(ringSize).fill(undefined);
let head = 0;
let tail = 0;

function push(receive: Receive, payload: unknown): void {
  receivers[tail] = receive;
  payloads[tail] = payload;
  tail = (tail + 1) & ringMask;
}

function drain(): void {
  while (head !== tail) {
    const receive = receivers[head];
    const payload = payloads[head];
    receivers[head] = undefined;
    payloads[head] = undefined;
    head = (head + 1) & ringMask;
    if (receive !== undefined) receive(payload);
  }
}

/**
 * Runs four other receivers on the ring, as many as the warm-up of a system has handlers. With only the two
 * receivers of a benchmark, the compiler inlines both into the loop, and the measured code contains no call.
 */
export function warmUpFloorCallSites(hops = 20_000): void {
  let received = 0;
  const passForward: Receive = (left) => {
    push(receive, left);
    if (typeof left === 'number' && left > 0) push(passBack, left - 1);
  };
  const passBack: Receive = (left) => {
    push(receiveOther, { left });
    if (typeof left === 'number' && left > 0) push(passForward, left - 1);
  };
  const receive: Receive = (payload) => {
    if (payload !== undefined) received += 1;
  };
  const receiveOther: Receive = (payload) => {
    if (payload !== receive) received += 1;
  };
  push(passForward, hops);
  drain();
  if (received !== hops + 1) throw new Error(`${received} of ${hops + 1} messages arrived`);
}

function mailbox(capacity: number): (number | undefined)[] {
  return new Array<number | undefined>(2 ** Math.ceil(Math.log2(capacity + 1))).fill(undefined);
}

function counting(scale: number): PreparedRun {
  const messages = scaled(1_000_000, scale);
  const box = mailbox(messages);
  return () => {
    let total = 0;
    const actor = {
      receive: (by: number) => {
        total += by;
      },
    };
    for (let sent = 0; sent < messages; sent += 1) box[sent] = 1;
    for (let got = 0; got < messages; got += 1) {
      const payload = box[got];
      box[got] = undefined;
      if (payload !== undefined) actor.receive(payload);
    }
    return { attempted: messages, completed: total };
  };
}

function pingpong(scale: number): PreparedRun {
  const exchanges = scaled(1_000_000, scale);
  return () => {
    let left = exchanges;
    let pings = 0;
    const pinger = {
      receive(): void {
        if (left === 0) return;
        left -= 1;
        push(ponger, pinger);
      },
    };
    const ponger = (from: unknown): void => {
      pings += 1;
      // The only sender is the pinger, with itself as payload.
      push((from as typeof pinger).receive, undefined);
    };
    push(pinger.receive, undefined);
    drain();
    return { attempted: 2 * exchanges, completed: 2 * pings };
  };
}

function ring(scale: number): PreparedRun {
  const size = 100;
  const hops = scaled(1_000_000, scale, size);
  return () => {
    let counted = 0;
    const members: Receive[] = [];
    for (let index = 0; index < size; index += 1) {
      const next = (index + 1) % size;
      members.push((left) => {
        counted += 1;
        const neighbour = members[next];
        if (typeof left === 'number' && left > 1 && neighbour !== undefined) push(neighbour, left - 1);
      });
    }
    const [first] = members;
    if (first !== undefined) push(first, hops);
    drain();
    return { attempted: hops, completed: counted };
  };
}

function forkjoin(scale: number): PreparedRun {
  const count = 60;
  const each = Math.min(100_000, scaled(100_000, scale));
  const rounds = scaled(1, scale);
  const boxes = Array.from({ length: count }, () => mailbox(each));
  return () => {
    let completed = 0;
    for (let round = 0; round < rounds; round += 1) completed += forkOnce(boxes, each);
    return { attempted: count * each * rounds, completed };
  };
}

function forkOnce(boxes: readonly (number | undefined)[][], each: number): number {
  let total = 0;
  for (let sent = 0; sent < each; sent += 1) for (const box of boxes) box[sent] = 1;
  for (const box of boxes) {
    let got = 0;
    const actor = {
      receive: (by: number) => {
        got += by;
      },
    };
    for (let at = 0; at < each; at += 1) {
      const payload = box[at];
      box[at] = undefined;
      if (payload !== undefined) actor.receive(payload);
    }
    total += got;
  }
  return total;
}

function create(scale: number): PreparedRun {
  const actors = scaled(100_000, scale);
  const wave = ringSize / 2;
  return () => {
    let touched = 0;
    for (let made = 0; made < actors; ) {
      for (let index = 0; index < wave && made < actors; index += 1, made += 1) {
        const actor = { age: made, receive: (by: unknown) => touch(by) };
        const touch = (by: unknown): void => {
          if (typeof by === 'number') actor.age += by;
          touched += 1;
        };
        push(actor.receive, 1);
      }
      drain();
    }
    return { attempted: actors, completed: touched };
  };
}

function ringAsk(value: number): Promise<number> {
  return new Promise((resolve) => {
    push((payload) => resolve(Number(payload) + 1), value);
  });
}

function ask(scale: number): PreparedRun {
  const asks = scaled(100_000, scale);
  return async (): Promise<Outcome> => {
    let value = 0;
    for (let count = 0; count < asks; count += 1) {
      const reply = ringAsk(value);
      drain();
      value = await reply;
    }
    return { attempted: asks, completed: value };
  };
}

function askConcurrent(scale: number): PreparedRun {
  const inFlight = 1_000;
  const rounds = scaled(100, scale);
  return async (): Promise<Outcome> => {
    let answered = 0;
    for (let count = 0; count < rounds; count += 1) {
      const replies = new Array<Promise<number>>(inFlight);
      for (let index = 0; index < inFlight; index += 1) replies[index] = ringAsk(index);
      drain();
      const values = await Promise.all(replies);
      for (let index = 0; index < inFlight; index += 1) if (values[index] === index + 1) answered += 1;
    }
    return { attempted: inFlight * rounds, completed: answered };
  };
}

function asyncHandler(scale: number): PreparedRun {
  const messages = scaled(300_000, scale);
  const resolved = Promise.resolve();
  return async (): Promise<Outcome> => {
    let steps = 0;
    const receive = async (by: number): Promise<void> => {
      await resolved;
      steps += by;
    };
    for (let count = 0; count < messages; count += 1) await receive(1);
    return { attempted: messages, completed: steps };
  };
}

/** Runs by benchmark name. */
export const floorWorkloads: Readonly<Record<string, (scale: number) => PreparedRun>> = {
  counting,
  pingpong,
  ring,
  forkjoin,
  create,
  ask,
  askConcurrent,
  asyncHandler,
};
