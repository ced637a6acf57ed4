// A tool or a program of the other runtimes, with a time limit: one that hangs fails alone.
import { runLimited } from '../check/limited.mjs';

/** Installing a runtime over a slow network takes minutes. */
const LIMIT_MS = 600_000;

/** @param {string} program @param {readonly string[]} args @param {{ cwd: string }} options @returns {Promise<import('../command.mjs').Outcome>} */
export async function runWithin(program, args, { cwd }) {
  const { code, output, timedOut } = await runLimited(program, [...args], { cwd, timeoutMs: LIMIT_MS });
  const note = timedOut ? `\nnot finished after ${LIMIT_MS / 1000} s` : '';
  return { code: code ?? 1, output: output + note };
}
