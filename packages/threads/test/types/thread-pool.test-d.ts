// Tasks are typed by their module.
import { type PostResult, ThreadPoolExecutor } from '@troupe/threads';

interface Module {
  readonly version: string;
  then(): void;
  resize(pixels: Uint8Array, options: { width: number }): Promise<Uint8Array>;
  count(to: number): AsyncGenerator<number>;
  open(path: string): Promise<AsyncIterable<string>>;
  fail(): never;
}

const pool = new ThreadPoolExecutor({ maxThreads: 2, fallback: 'wait' });
const tasks = pool.tasks<Module>(new URL('file:///resize.js'));

const resized: Promise<Uint8Array> = tasks.resize(new Uint8Array(1), { width: 1 });
const same: Promise<Uint8Array> = pool.submit(tasks.resize, new Uint8Array(1), { width: 1 });
const perhaps: Promise<Uint8Array> | undefined = pool.trySubmit(tasks.resize, new Uint8Array(1), {
  width: 1,
});
const posted: PostResult = pool.post(tasks.with({ priority: 1 }).resize, new Uint8Array(1), { width: 1 });
const items: AsyncIterable<number> = tasks.count(3);
const lines: Promise<AsyncIterable<string>> = tasks.open('x');
const failed: Promise<never> = tasks.fail();
void [resized, same, perhaps, posted, items, lines, failed];

// @ts-expect-error a wrong argument
tasks.resize('pixels', { width: 1 });
// @ts-expect-error no such function
tasks.rotate();
// @ts-expect-error a value is no task
tasks.version();
// @ts-expect-error tasks are safe to await
tasks.then();
// @ts-expect-error an argument is missing
pool.post(tasks.resize, new Uint8Array(1));
// @ts-expect-error no such option
tasks.with({ prio: 1 });
// @ts-expect-error no such fallback
new ThreadPoolExecutor({ fallback: 'retry' });
// @ts-expect-error a function that is no task
pool.post(1);
