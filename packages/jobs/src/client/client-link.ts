import type { JobsHost } from '../jobs-host.js';
import type { ClientHello, ClientMessage } from '../protocol/client-messages.js';

/** A client's way to its leader. */
export interface ClientLink {
  open(hello: ClientHello): void;
  write(message: ClientMessage): void;
  /** The client is closed and writes nothing more. */
  close?(): void;
}

export interface ClientSetup {
  readonly client: string;
  readonly token: string;
  /** The tag of the leader's ids, where it is known before the first session. */
  readonly tag?: string | undefined;
  readonly host: JobsHost;
  readonly link: ClientLink;
  /** Large files are read while they are sent. */
  readonly streams?: boolean | undefined;
}
