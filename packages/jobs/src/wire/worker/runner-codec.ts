import type { ByteWriter } from '../../bytes/byte-writer.js';
import type { RunnerOffer, RunnerUse } from '../../protocol/worker/worker-messages.js';
import { readTexts, writeTexts } from '../wire-fields.js';
import type { WireReader } from '../wire-reader.js';

/** The numbers of a runner in their order on the wire. A longer list is of a later version. */
const NUMBERS = [
  'size',
  'granted',
  'loading',
  'idle',
  'held',
  'waiting',
  'loads',
  'loadFailures',
  'recycled',
  'runs',
] as const satisfies readonly (keyof RunnerUse)[];

export function writeRunnerUses(out: ByteWriter, uses: readonly RunnerUse[]): void {
  out.int(uses.length);
  for (const use of uses) writeUse(out, use);
}

export function readRunnerUses(from: WireReader): RunnerUse[] {
  return readList(from, readUse);
}

export function writeRunnerOffers(out: ByteWriter, offers: readonly RunnerOffer[]): void {
  out.int(offers.length);
  for (const offer of offers) {
    writeUse(out, offer);
    writeTexts(out, offer.execs);
  }
}

export function readRunnerOffers(from: WireReader): RunnerOffer[] {
  return readList(from, (reader) => ({ ...readUse(reader), execs: readTexts(reader) }));
}

function writeUse(out: ByteWriter, use: RunnerUse): void {
  out.text(use.runner);
  out.int(NUMBERS.length);
  for (const name of NUMBERS) out.int(use[name]);
}

function readUse(from: WireReader): RunnerUse {
  const runner = from.text();
  const count = from.int();
  const numbers: number[] = [];
  for (let i = 0; i < count; i += 1) {
    from.countItem();
    numbers.push(from.int());
  }
  const [size = 0, granted = 0, loading = 0, idle = 0, held = 0, waiting = 0] = numbers;
  const [loads = 0, loadFailures = 0, recycled = 0, runs = 0] = numbers.slice(6);
  const stages = { loading, idle, held, waiting };
  return { runner, size, granted, ...stages, loads, loadFailures, recycled, runs };
}

function readList<T>(from: WireReader, read: (from: WireReader) => T): T[] {
  const count = from.int();
  const list: T[] = [];
  for (let i = 0; i < count; i += 1) {
    from.countItem();
    list.push(read(from));
  }
  return list;
}
