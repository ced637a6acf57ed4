import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Launch, runProcess, splitLabel } from '#src/runner/run-process.js';
import { caseWith } from '../case-builders.js';

const processes = suite('run-process');
const launch: Launch = { suite: 'core', scale: 1, adapters: {} };

/** A process that runs one line of JavaScript. */
function planned(script: string, timeoutMs = 20_000) {
  const command = () => ({ file: process.execPath, args: ['-e', script] });
  return { case: caseWith({ command, timeoutMs }), system: 'troupe', round: 0 };
}

async function failure(script: string, timeoutMs?: number): Promise<string> {
  try {
    await runProcess(planned(script, timeoutMs), launch);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return '';
}

const line = (sample: unknown): string =>
  `console.log('@sample ' + ${JSON.stringify(JSON.stringify(sample))});`;

processes('samples are read from lines, other output is ignored', async () => {
  const script = `console.log('hello'); ${line({ attempted: 2, completed: 2, seconds: 0.5, oracle: true, extra: { a: 1 } })}
    console.log('@process {"rssBytes":5}');`;
  const result = await runProcess(planned(script), launch);
  assert.equal(result.samples, [{ attempted: 2, completed: 2, seconds: 0.5, oracle: true, extra: { a: 1 } }]);
  assert.is(result.rssBytes, 5);
});

processes('a failed process is reported with its exit code and standard error', async () => {
  assert.match(await failure("console.error('out of luck'); process.exit(3)"), /exit 3: out of luck/);
});

processes('an @error line is the reason of the failure', async () => {
  assert.match(await failure('console.log(\'@error "no such peer"\')'), /no such peer/);
});

processes('an invalid sample is a failure', async () => {
  assert.match(await failure(line({ attempted: 1 })), /needs attempted, completed and seconds/);
  assert.match(await failure(line({ attempted: 1, completed: 1, seconds: 0 })), /seconds > 0/);
  assert.match(await failure("console.log('@sample 3')"), /a sample is an object/);
});

processes('a process without a result within its time limit is killed', async () => {
  assert.match(await failure('setInterval(() => {}, 1000)', 300), /no result within 0.3 s/);
});

processes('a missing program is a failure', async () => {
  const command = () => ({ file: '/no/such/program', args: [] });
  try {
    await runProcess({ case: caseWith({ command }), system: 'x', round: 0 }, launch);
    assert.unreachable();
  } catch (error) {
    assert.match(String(error), /did not start/);
  }
});

processes('a label may name a runtime other than Node', () => {
  assert.equal(splitLabel('troupe'), { system: 'troupe', runtime: 'node' });
  assert.equal(splitLabel('troupe@bun'), { system: 'troupe', runtime: 'bun' });
});

processes.run();
