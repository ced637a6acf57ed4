import { Socket } from 'node:net';
import postgres from 'postgres';
import { isTransient } from './transient-error.js';

const CONNECT_SECONDS = 2;

interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Several hosts of a url, of which the primary is dialled. The client library would try them for ever,
 * without a pause, where none is a primary that accepts; here each is asked once, and the statement rejects.
 */
export class PrimaryDialer {
  private readonly url: string;
  private readonly addresses: readonly Address[];

  constructor(url: string) {
    const { host, port } = postgres(url, { max: 1 }).options;
    this.url = url;
    this.addresses = host.map((name, i) => ({ host: name, port: port[i] ?? 5432 }));
  }

  get hasChoice(): boolean {
    return this.addresses.length > 1;
  }

  /** The host that the library knows: by a single one it rejects what cannot be sent. */
  get first(): Address | undefined {
    return this.addresses[0];
  }

  /** A socket on its way to the primary, or one that ends by the reason for which there is none. */
  async dial(signal: AbortSignal | undefined): Promise<Socket> {
    const socket = new Socket();
    try {
      const { host, port } = await this.primary();
      // The library would keep the socket of a connection that was ended meanwhile.
      signal?.throwIfAborted();
      // The library takes the name for TLS from the socket.
      return Object.assign(socket.connect(port, host), { host });
    } catch (error) {
      // Where this rejects, the library leaves later statements without an answer.
      return socket.destroy(error as Error);
    }
  }

  private async primary(): Promise<Address> {
    const problems: string[] = [];
    for (const address of this.addresses) {
      const problem = await this.problemOf(address);
      if (problem === undefined) return address;
      problems.push(`${address.host}:${address.port} ${problem}`);
    }
    throw Object.assign(new Error(problems.join(', ')), { code: 'CONNECT_NO_PRIMARY' });
  }

  /** Undefined: it is the primary. */
  private async problemOf(address: Address): Promise<string | undefined> {
    const sql = postgres(this.url, {
      ...address,
      max: 1,
      connect_timeout: CONNECT_SECONDS,
      fetch_types: false,
    });
    try {
      const [row] = await sql<{ isStandby: boolean }[]>`select pg_is_in_recovery() as "isStandby"`;
      return row?.isStandby === true ? 'is a standby' : undefined;
    } catch (error) {
      if (!isTransient(error)) throw error;
      return String((error as { code?: unknown }).code);
    } finally {
      await sql.end({ timeout: 0 });
    }
  }
}
