/** Resident memory of a process: its maximum since the last reading, and the current value. */
export interface MemoryReading {
  readonly peakBytes: number;
  readonly rssBytes: number;
}

/** Samples the resident memory of this process. */
export class MemoryWatch {
  private peakBytes = process.memoryUsage.rss();
  private readonly timer = setInterval(() => this.sample(), 5);

  constructor() {
    this.timer.unref();
  }

  read(): MemoryReading {
    const rssBytes = this.sample();
    const reading = { peakBytes: this.peakBytes, rssBytes };
    this.peakBytes = rssBytes;
    return reading;
  }

  private sample(): number {
    const rssBytes = process.memoryUsage.rss();
    this.peakBytes = Math.max(this.peakBytes, rssBytes);
    return rssBytes;
  }
}
