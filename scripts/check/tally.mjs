// Counts of passed and failed checks, shown as one live line on a terminal and as plain lines elsewhere.

export class Tally {
  passed = 0;
  failed = 0;
  /** @type {string[]} */
  failures = [];
  #live = process.stdout.isTTY === true;
  #startedAt = performance.now();

  /**
   * @param {string} name @param {{ passed: number, failed: number, seconds: number, problem?: string, output: string }} result
   * @param {{ quiet?: boolean }} [options] quiet: on a terminal, a success leaves no line
   */
  add(name, { passed, failed, seconds, problem, output }, { quiet = false } = {}) {
    this.passed += passed;
    this.failed += failed;
    this.#clear();
    if (failed > 0) {
      this.failures.push(problem === undefined ? name : `${name}: ${problem}`);
      const text = output.trimEnd();
      console.log(
        `FAIL ${name}${text === '' ? '' : `\n${text.replace(/^/gm, '     ')}`}${problem ? `\n     ${problem}` : ''}`,
      );
    } else if (!quiet || !this.#live) {
      const count = passed === 1 ? '' : ` (${passed})`;
      console.log(`ok   ${name}${count} ${seconds.toFixed(1)} s`);
    }
  }

  /** @param {string} name @param {string} reason why it was not run */
  skip(name, reason) {
    this.#clear();
    console.log(`skip ${name}: ${reason}`);
  }

  /** @param {string} what is being done now */
  show(what) {
    if (!this.#live) return;
    const seconds = Math.round((performance.now() - this.#startedAt) / 1000);
    const line = `${seconds} s · ${this.passed} passed, ${this.failed} failed · ${what}`;
    this.#clear();
    process.stdout.write(line.slice(0, (process.stdout.columns || 80) - 1));
  }

  #clear() {
    if (this.#live) process.stdout.write('\r\u001b[K');
  }

  /** The last lines of the test command; the very last one is for machines too. @returns {number} the exit code */
  end() {
    this.#clear();
    if (this.failures.length > 0)
      console.log(`\nfailed:\n${this.failures.map((name) => `  ${name}`).join('\n')}`);
    console.log(`\n${((performance.now() - this.#startedAt) / 1000).toFixed(1)} s`);
    if (this.passed + this.failed === 0) {
      console.log('nothing ran');
      this.failed = 1;
    }
    console.log(`${this.passed} passed, ${this.failed} failed`);
    return this.failed === 0 ? 0 : 1;
  }
}
