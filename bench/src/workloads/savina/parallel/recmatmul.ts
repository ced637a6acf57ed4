import type { Outcome, Workload } from '../../workload.js';
import { type MasterWorkerTask, masterWorker, runWithoutActors } from '../master-worker.js';

const workers = 20;
const thresholdElements = 16_384;

interface Piece {
  readonly size: number;
  readonly rowA: number;
  readonly columnA: number;
  readonly columnB: number;
}

export class Product {
  readonly size: number;
  private readonly a: Float64Array;
  private readonly b: Float64Array;
  private readonly c: Float64Array;
  pieces = 0;

  /** `memory`: of the product, where several threads write to it. */
  constructor(size: number, memory: ArrayBuffer | SharedArrayBuffer = new ArrayBuffer(8 * size * size)) {
    this.size = size;
    this.a = Float64Array.from({ length: size * size }, (_, at) => Math.floor(at / size));
    this.b = Float64Array.from({ length: size * size }, (_, at) => at % size);
    this.c = new Float64Array(memory);
  }

  reset(): void {
    this.c.fill(0);
    this.pieces = 0;
  }

  multiply({ size, rowA, columnA, columnB }: Piece): void {
    const width = this.size;
    const [a, b, c] = [this.a, this.b, this.c];
    for (let row = rowA; row < rowA + size; row += 1) {
      for (let middle = columnA; middle < columnA + size; middle += 1) {
        const factor = a[row * width + middle] ?? 0;
        const from = middle * width;
        for (let column = columnB; column < columnB + size; column += 1) {
          c[row * width + column] = (c[row * width + column] ?? 0) + factor * (b[from + column] ?? 0);
        }
      }
    }
  }

  /** With these inputs the element in row i and column j is size · i · j. */
  get isCorrect(): boolean {
    const { size } = this;
    return this.c.every((value, at) => value === size * Math.floor(at / size) * (at % size));
  }
}

function split({ size, rowA, columnA, columnB }: Piece, more: (piece: Piece) => void): void {
  const half = size / 2;
  for (const down of [0, half]) {
    for (const across of [0, half]) {
      for (const deep of [0, half]) {
        more({ size: half, rowA: rowA + down, columnA: columnA + deep, columnB: columnB + across });
      }
    }
  }
}

export function taskOf(product: Product): MasterWorkerTask<Piece, number> {
  return {
    workers,
    work(piece, more) {
      if (piece.size * piece.size > thresholdElements) {
        split(piece, more);
        return 0;
      }
      product.multiply(piece);
      return piece.size ** 3;
    },
    collect(done) {
      product.pieces += done;
    },
  };
}

export const sizeOf = (scale: number): number => 2 ** Math.max(5, Math.round(10 + Math.log2(scale) / 3));

export function outcomeOf(product: Product): Outcome {
  return { attempted: product.size ** 3, completed: product.pieces, oracle: product.isCorrect };
}

/** Recursive block multiplication of square matrices. */
export const recmatmul: Workload = {
  name: 'recmatmul',
  unit: 'multiplications',
  prepare(system, scale) {
    const product = new Product(sizeOf(scale));
    const run = masterWorker(system, taskOf(product));
    return async () => {
      product.reset();
      await run([{ size: product.size, rowA: 0, columnA: 0, columnB: 0 }]);
      return outcomeOf(product);
    };
  },
  plain(scale) {
    const product = new Product(sizeOf(scale));
    const task = taskOf(product);
    return () => {
      product.reset();
      runWithoutActors(task, [{ size: product.size, rowA: 0, columnA: 0, columnB: 0 }]);
      return outcomeOf(product);
    };
  },
};
