import { Tinypool } from 'tinypool';

export function open({ module, threads }) {
  const pool = new Tinypool({ filename: module, minThreads: threads, maxThreads: threads });
  return {
    noop: () => pool.run(undefined, { name: 'noop' }),
    compute: (rounds) => pool.run(rounds, { name: 'compute' }),
    close: () => pool.destroy(),
  };
}
