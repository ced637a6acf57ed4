import type { SessionSetup } from './session-setup.js';

/** The state of a session actor: its set-up, and the connection that it opens when it starts. */
export class SessionState<Connection> {
  readonly setup: SessionSetup;
  private opened: Connection | undefined = undefined;

  constructor(setup: SessionSetup) {
    this.setup = setup;
  }

  /** There is one whenever a message is handled: messages wait for `started`. */
  get connection(): Connection {
    return this.opened as Connection;
  }

  set connection(connection: Connection) {
    this.opened = connection;
  }
}
