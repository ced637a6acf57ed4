import { type Address, type DialerEvent, formatAddress, formatCloseReason } from '@troupe/transport';
import type { Terminal } from './terminal.js';

/** Prints, once per outage, that the leader cannot be reached and that the command waits for it. */
export class ConnectionNotices {
  private readonly terminal: Terminal;
  private readonly address: string;
  private isPrinted = false;

  constructor(terminal: Terminal, address: Address) {
    this.terminal = terminal;
    this.address = formatAddress(address);
  }

  readonly onEvent = (event: DialerEvent): void => {
    if (event.kind === 'lost' && event.reason.kind !== 'local') {
      this.isPrinted = false;
      this.print(`lost (${formatCloseReason(event.reason)})`);
    } else if (event.kind === 'unreachable') this.print(`not there (${event.error.message})`);
  };

  private print(what: string): void {
    if (this.isPrinted) return;
    this.isPrinted = true;
    this.terminal.err(`troupe: leader at ${this.address}: ${what}; waiting for it`);
  }
}
