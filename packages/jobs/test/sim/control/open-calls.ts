import type { SimulatedMachine, Simulation } from '../simulation.js';

/** Calls without an answer, by their client's machine; a refusal that the run explains is an answer. */
export class OpenCalls {
  private readonly simulation: Simulation;
  private readonly expected: readonly string[];
  private readonly calls = new Map<object, SimulatedMachine>();

  /** `expected`: codes of refusals. */
  constructor(simulation: Simulation, expected: readonly string[]) {
    this.simulation = simulation;
    this.expected = expected;
  }

  get isSettled(): boolean {
    return this.calls.size === 0;
  }

  /** Its calls never settle. */
  clientCrashed(machine: SimulatedMachine): void {
    for (const [call, of] of this.calls) if (of === machine) this.calls.delete(call);
  }

  async call(machine: SimulatedMachine, run: () => Promise<unknown>): Promise<void> {
    const call = {};
    this.calls.set(call, machine);
    try {
      await run();
    } catch (error) {
      const { code } = error as { readonly code?: string };
      if (!this.expected.includes(code ?? ''))
        this.simulation.problem(`call of ${machine.name}: ${String(error)}`);
    } finally {
      this.calls.delete(call);
    }
  }
}
