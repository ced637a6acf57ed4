import { checkOptions } from '../../option-check.js';
import { type AttemptContext, type HandledJob, handle } from '../../worker/handlers/handler.js';
import { type CommandChunk, type CommandInput, command } from './command-job.js';
import { COMMAND_RULES, type CommandRunnerOptions, planCommand } from './command-rules.js';
import { CommandProcess } from './node-command-process.js';
import { nodeWorkerSurroundings } from './node-worker-surroundings.js';

/** The handler of {@link command}, for the programs that this worker allows. */
export function commandRunner(options: CommandRunnerOptions): HandledJob {
  checkOptions('commandRunner', options, COMMAND_RULES, ['allow']);
  return handle(command, (input, context) => runCommand(options, input, context));
}

async function* runCommand(
  options: CommandRunnerOptions,
  input: CommandInput,
  { signal, feed }: AttemptContext<unknown, string>,
): AsyncGenerator<CommandChunk, void, void> {
  const plan = planCommand(options, input, nodeWorkerSurroundings());
  const running = await CommandProcess.start(plan);
  const onAbort = (): void => running.end();
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  const fed = feedInput(running, feed);
  try {
    yield* running.output();
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', onAbort);
    running.end();
    await running.ended();
    await fed;
  }
}

/** A feed that is cut ends the input too: the attempt is over then. */
async function feedInput(running: CommandProcess, feed: AsyncIterable<string>): Promise<void> {
  try {
    const items = feed[Symbol.asyncIterator]();
    for (;;) {
      const item = await Promise.race([items.next(), running.ended()]);
      if (item === undefined || item.done === true || !(await running.write(item.value))) break;
    }
  } catch {
    running.end();
  }
  running.endInput();
}
