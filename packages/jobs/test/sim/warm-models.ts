import { type AttemptContext, type HandledJob, handle, type JobDefinition } from '@troupe/jobs';

/** The value of one instance of a warm runner: it knows its users. */
class WarmModel {
  private users = 0;
  private isUnloaded = false;
  private readonly problem: (text: string) => void;

  constructor(problem: (text: string) => void) {
    this.problem = problem;
  }

  enter(): void {
    this.users += 1;
    if (this.users > 1) this.problem('an instance of a warm runner has two handlers');
    if (this.isUnloaded) this.problem('a handler has an instance that was unloaded');
  }

  leave(): void {
    this.users -= 1;
  }

  unload(): void {
    if (this.users > 0) this.problem('an instance is unloaded under its handler');
    this.isUnloaded = true;
  }
}

/** The options of `handle` for a pool of so many models. */
export function warmPool(size: number, problem: (text: string) => void) {
  return {
    pool: { size, runsMax: 5 },
    load: async () => new WarmModel(problem),
    unload: (model: WarmModel) => model.unload(),
  };
}

/** A handler that must have its model for itself until it has ended. */
export function warmHandler<D extends JobDefinition>(
  job: D,
  run: (input: string, context: AttemptContext) => string | Promise<string>,
  problem: (text: string) => void,
): HandledJob {
  const handler = async (input: string, context: AttemptContext<WarmModel>): Promise<string> => {
    context.loaded.enter();
    try {
      return await run(input, context);
    } finally {
      context.loaded.leave();
    }
  };
  return handle(job, { ...warmPool(2, problem), run: handler as never });
}
