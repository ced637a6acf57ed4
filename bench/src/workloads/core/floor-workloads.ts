// Hot path: no allocation per message.
import { type Outcome, type Prepared, scaled } from '../workload.js';

/*
 * The floor of the core suite: each benchmark written by hand as a ring and a call through a field, with nothing
 * around it. It is not a system; it is what the machine gives to anything that delivers later than the send.
 */

type Receive = (payload: unknown) => void;

const ringSize = 1 << 16;
const ringMask = ringSize - 1;
const receivers: (Receive | undefined)[] = new Array(ringSize).fill(undefined);
// Any value fits and a taken slot is cleared: a ring of numbers would be faster, and no mailbox.
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
 * The crowd of the floor: as many other receivers as the crowd of a system brings along. With only the two of a benchmark
 * in the process, the compiler puts both into the loop, and what is measured holds no call any more.
 */
export function mingle(hops = 20_000): void {
  let noted = 0;
  const passOn: Receive = (left) => {
    push(note, left);
    if (typeof left === 'number' && left > 0) push(passBack, left - 1);
  };
  const passBack: Receive = (left) => {
    push(noteToo, { left });
    if (typeof left === 'number' && left > 0) push(passOn, left - 1);
  };
  const note: Receive = (about) => {
    if (about !== undefined) noted += 1;
  };
  const noteToo: Receive = (about) => {
    if (about !== note) noted += 1;
  };
  push(passOn, hops);
  drain();
  if (noted !== hops + 1) throw new Error(`${noted} of ${hops + 1} notes arrived`);
}

function mailbox(capacity: number): (number | undefined)[] {
  return new Array<number | undefined>(2 ** Math.ceil(Math.log2(capacity + 1))).fill(undefined);
}

function counting(scale: number): Prepared {
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

function pingpong(scale: number): Prepared {
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
      // Only the pinger sends here, and it sends itself.
      push((from as typeof pinger).receive, undefined);
    };
    push(pinger.receive, undefined);
    drain();
    return { attempted: 2 * exchanges, completed: 2 * pings };
  };
}

function ring(scale: number): Prepared {
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

function forkjoin(scale: number): Prepared {
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

function create(scale: number): Prepared {
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

function question(value: number): Promise<number> {
  return new Promise((resolve) => {
    push((asked) => resolve(Number(asked) + 1), value);
  });
}

function ask(scale: number): Prepared {
  const questions = scaled(100_000, scale);
  return async (): Promise<Outcome> => {
    let value = 0;
    for (let count = 0; count < questions; count += 1) {
      const answer = question(value);
      drain();
      value = await answer;
    }
    return { attempted: questions, completed: value };
  };
}

function askConcurrent(scale: number): Prepared {
  const flight = 1_000;
  const flights = scaled(100, scale);
  return async (): Promise<Outcome> => {
    let answered = 0;
    for (let count = 0; count < flights; count += 1) {
      const asked = new Array<Promise<number>>(flight);
      for (let index = 0; index < flight; index += 1) asked[index] = question(index);
      drain();
      const answers = await Promise.all(asked);
      for (let index = 0; index < flight; index += 1) if (answers[index] === index + 1) answered += 1;
    }
    return { attempted: flight * flights, completed: answered };
  };
}

function asyncHandler(scale: number): Prepared {
  const messages = scaled(300_000, scale);
  const settled = Promise.resolve();
  return async (): Promise<Outcome> => {
    let steps = 0;
    const receive = async (by: number): Promise<void> => {
      await settled;
      steps += by;
    };
    for (let count = 0; count < messages; count += 1) await receive(1);
    return { attempted: messages, completed: steps };
  };
}

/** By the name of the benchmark. */
export const bare: Readonly<Record<string, (scale: number) => Prepared>> = {
  counting,
  pingpong,
  ring,
  forkjoin,
  create,
  ask,
  askConcurrent,
  asyncHandler,
};
