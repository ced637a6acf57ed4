import { failureOf, isFinal } from '../attempt/attempt-end.js';
import type { RunnerFunctions } from './runner-plan.js';
import type { RunnerInstance, RunnerReport } from './runner-port.js';
import { unloadValue } from './unload-value.js';

interface LoadedInstance {
  readonly functions: RunnerFunctions;
  value: unknown;
}

/** The values of warm runners on one thread, and the calls of the user's functions around them. */
export class RunnerInstances {
  private readonly report: (report: RunnerReport) => void;
  private readonly functionsOf: (runner: string) => RunnerFunctions;
  /** An instance keeps the functions it was loaded with, also when its handlers are replaced. */
  private readonly instances = new Map<number, LoadedInstance>();

  constructor(functionsOf: (runner: string) => RunnerFunctions, report: (report: RunnerReport) => void) {
    this.functionsOf = functionsOf;
    this.report = report;
  }

  valueOf(instance: number): unknown {
    return this.instances.get(instance)?.value;
  }

  load({ id, runner }: RunnerInstance): void {
    const loaded: LoadedInstance = { functions: this.functionsOf(runner), value: undefined };
    this.instances.set(id, loaded);
    void this.settle('loaded', id, async () => {
      loaded.value = await loaded.functions.load?.();
    });
  }

  check({ id }: RunnerInstance): void {
    const { functions, value } = this.get(id);
    void this.settle('checked', id, async () => {
      if ((await functions.healthy?.(value)) === false) throw new Error('healthy returned false');
    });
  }

  unload({ id }: RunnerInstance): void {
    const { functions, value } = this.get(id);
    this.instances.delete(id);
    void this.settle('unloaded', id, async () => {
      await unloadValue(functions, value);
    });
  }

  private async settle(
    kind: RunnerReport['kind'],
    instance: number,
    run: () => Promise<void>,
  ): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (kind === 'loaded') this.instances.delete(instance);
      return this.report({ kind, instance, failure: { failure: failureOf(error), isFinal: isFinal(error) } });
    }
    this.report({ kind, instance });
  }

  private get(instance: number): LoadedInstance {
    return this.instances.get(instance) as LoadedInstance; // it is known from `load` to `unload`
  }
}
