import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const ends = suite('ends that a program awaits');

const program = fileURLToPath(new URL('./awaited-end-program.js', import.meta.url));

/** Exit code 13: Node had nothing left to do before the end came. */
for (const [name, end] of [
  ['pool', 'the shutdown of a pool whose thread is still starting'],
  ['system', 'the shutdown of a system with threads'],
  ['hanging', 'the shutdown of a system with a thread that hangs'],
  ['stop', 'the stop of an actor on a thread that sleeps'],
  ['replaced', 'the stop of an actor whose thread is being replaced'],
] as const)
  ends(`${end} keeps the process until it has come`, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [program, name]);
    assert.is(stdout.trim(), 'end');
  });

ends.run();
