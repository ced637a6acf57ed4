import type { ByteWriter } from '#src/bytes/byte-writer.js';
import type { ClientMessage, ToClient } from '#src/protocol/client/client-messages.js';
import type { ToWorker, WorkerHello, WorkerMessage } from '#src/protocol/worker/worker-messages.js';
import { encodeClient, encodeToClient, readClient, readToClient } from '#src/wire/client/client-codec.js';
import { JobFrameType } from '#src/wire/job-frame-type.js';
import type { Emit } from '#src/wire/session-codec.js';
import type { WireReader } from '#src/wire/wire-reader.js';
import {
  encodeToWorker,
  encodeWorker,
  encodeWorkerHello,
  readToWorker,
  readWorker,
  readWorkerHello,
} from '#src/wire/worker/worker-codec.js';

/** A message and its frame in protocol 1: type and body in hex. Frames are added here, never changed. */
export interface GoldenFrame {
  readonly name: string;
  readonly type: number;
  readonly hex: string;
  readonly message: unknown;
  readonly encode: (out: ByteWriter, emit: Emit) => void;
  readonly read: (type: number, from: WireReader) => unknown;
}

export function client(name: string, type: number, hex: string, message: ClientMessage): GoldenFrame {
  return {
    name,
    type,
    hex,
    message,
    encode: (out, emit) => encodeClient(message, out, emit),
    read: readClient,
  };
}

export function toClient(name: string, type: number, hex: string, message: ToClient): GoldenFrame {
  const encode = (out: ByteWriter, emit: Emit): void => encodeToClient(message, out, emit);
  return { name, type, hex, message, encode, read: readToClient };
}

export function worker(name: string, type: number, hex: string, message: WorkerMessage): GoldenFrame {
  return {
    name,
    type,
    hex,
    message,
    encode: (out, emit) => encodeWorker(message, out, emit),
    read: readWorker,
  };
}

export function toWorker(name: string, type: number, hex: string, message: ToWorker): GoldenFrame {
  const encode = (out: ByteWriter, emit: Emit): void => encodeToWorker(message, out, emit);
  return { name, type, hex, message, encode, read: readToWorker };
}

export function workerHello(name: string, hex: string, message: WorkerHello): GoldenFrame {
  return {
    name,
    type: JobFrameType.WorkerHello,
    hex,
    message,
    encode: (out, emit) => encodeWorkerHello(message, out, emit),
    read: (_type, from) => readWorkerHello(from),
  };
}
