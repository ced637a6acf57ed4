/** The load of the process. */
export interface LoadMeter {
  /** Share of one processor, 0 to 1. */
  cpu(): number;
  /** Delay of the event loop. */
  lagMs(): number;
}
