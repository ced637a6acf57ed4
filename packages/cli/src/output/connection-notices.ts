import type { DialOptions } from '@troupe/jobs';
import { type DialerEvent, formatAddresses, formatCloseReason } from '@troupe/transport';
import { isStandby } from '../address-probe.js';
import type { Terminal } from './terminal.js';

/** Prints, once per outage, that the leader cannot be reached and that the command waits for it. */
export class ConnectionNotices {
  private readonly terminal: Terminal;
  private readonly address: string;
  private isPrinted = false;
  private wasConnected = false;

  constructor(terminal: Terminal, address: DialOptions['address']) {
    this.terminal = terminal;
    this.address = formatAddresses(address);
  }

  /** The first session is there. */
  connected(): void {
    this.wasConnected = true;
  }

  readonly onEvent = (event: DialerEvent): void => {
    if (isStandby(event)) return;
    if (event.kind === 'lost' && event.reason.kind !== 'local') {
      const isRefused = event.reason.kind === 'peer-error' && event.reason.error.name === 'AUTH_FAILED';
      // At the first connection the command itself ends with this error.
      if (isRefused && !this.wasConnected) return;
      this.isPrinted = false;
      const why = formatCloseReason(event.reason);
      this.print(
        isRefused ? `refuses this peer (${why}), its key is not valid there any more` : `lost (${why})`,
      );
    } else if (event.kind === 'unreachable') this.print(`not there (${event.error.message})`);
  };

  private print(what: string): void {
    if (this.isPrinted) return;
    this.isPrinted = true;
    this.terminal.err(`troupe: leader at ${this.address}: ${what}; waiting for it`);
  }
}
