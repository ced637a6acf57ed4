import { type Address, type DialerEvent, formatAddress, formatCloseReason } from '@troupe/transport';
import type { Terminal } from './terminal.js';

/** Says, once per outage, that there is no leader and that the command waits for one. */
export class LeaderWatch {
  private readonly terminal: Terminal;
  private readonly address: string;
  private isTold = false;

  constructor(terminal: Terminal, address: Address) {
    this.terminal = terminal;
    this.address = formatAddress(address);
  }

  readonly hear = (event: DialerEvent): void => {
    if (event.kind === 'lost' && event.reason.kind !== 'local') {
      this.isTold = false;
      this.tell(`lost (${formatCloseReason(event.reason)})`);
    } else if (event.kind === 'unreachable') this.tell(`not there (${event.error.message})`);
  };

  private tell(what: string): void {
    if (this.isTold) return;
    this.isTold = true;
    this.terminal.err(`troupe: leader at ${this.address}: ${what}; waiting for it`);
  }
}
