/** How busy the process is. */
export interface LoadMeter {
  /** Share of one processor, 0 to 1. */
  cpu(): number;
  lagMs(): number;
}
