import type { Sql } from 'postgres';
import { connect, type DatabaseOptions, type SessionSettings } from './log-database.js';

/**
 * One connection that is made anew after it broke. The client library would reconnect by itself, but bytes
 * that were waiting when the socket closed stay in its buffer, and stop the next start-up until it times out.
 */
export class KeptConnection {
  private readonly database: DatabaseOptions;
  private readonly settings: SessionSettings;
  private present: Sql | undefined = undefined;
  private givingUp = new AbortController();
  private isEnded = false;
  /** Called when the present connection broke. */
  onBroken: () => void = () => undefined;

  constructor(database: DatabaseOptions, settings: SessionSettings = {}) {
    this.database = database;
    this.settings = settings;
  }

  /** For one statement or transaction; the next one may have another connection. */
  get sql(): Sql {
    this.present ??= this.connect();
    return this.present;
  }

  /** Statements without an answer reject. */
  replace(): void {
    const { present } = this;
    this.present = undefined;
    this.givingUp.abort();
    void present?.end({ timeout: 0 }).catch(() => undefined);
  }

  async end(): Promise<void> {
    this.isEnded = true;
    this.givingUp.abort();
    await this.present?.end({ timeout: 1 });
  }

  private connect(): Sql {
    this.givingUp = new AbortController();
    const sql = connect(this.database, {
      ...this.settings,
      signal: this.givingUp.signal,
      onClosed: () => {
        if (this.present !== sql || this.isEnded) return;
        this.replace();
        this.onBroken();
      },
    });
    return sql;
  }
}
