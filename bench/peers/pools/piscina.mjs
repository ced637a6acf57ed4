import { Piscina } from 'piscina';

export function open({ module, threads }) {
  const pool = new Piscina({ filename: module, minThreads: threads, maxThreads: threads });
  return {
    noop: () => pool.run(undefined, { name: 'noop' }),
    compute: (rounds) => pool.run(rounds, { name: 'compute' }),
    close: () => pool.destroy(),
  };
}
