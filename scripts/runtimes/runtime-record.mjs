// A line for docs/testing.md: a runtime, the commit, and the counts of its tests.
import { run } from '../command.mjs';

export class RuntimeRecord {
  #what;
  #startedAt = performance.now();
  /** The end of the last file. */
  #endedAt = this.#startedAt;
  #files = 0;
  #passed = 0;
  #failed = 0;
  #notRun = 0;

  /** @param {string} what the runtime with its version, and the commit */
  constructor(what) {
    this.#what = what;
  }

  /** @param {import('./runtimes.mjs').Runtime} runtime @param {string} folder where it is installed */
  static async of(runtime, folder) {
    const [program] = runtime.command(folder);
    const version = (await run(program, ['--version'])).output.trim().split('\n')[0];
    const commit = (await run('git', ['rev-parse', '--short=8', 'HEAD'])).output.trim();
    const changes = (await run('git', ['status', '--porcelain'])).output.trim();
    return new RuntimeRecord(
      `${runtime.name} (${version}) at ${commit}${changes === '' ? '' : ' with changes'}`,
    );
  }

  /** @param {import('../check/unit.mjs').FileResult} result */
  add({ passed, failed }) {
    this.#files += 1;
    this.#passed += passed;
    this.#failed += failed;
    this.#endedAt = performance.now();
  }

  /** A file that needs what is not there. */
  notRun() {
    this.#notRun += 1;
  }

  toString() {
    const seconds = ((this.#endedAt - this.#startedAt) / 1000).toFixed(0);
    const notRun = this.#notRun === 0 ? '' : `, ${this.#notRun} files not run`;
    return `${this.#what}: ${this.#files} files, ${this.#passed} passed, ${this.#failed} failed${notRun}, ${seconds} s`;
  }
}
