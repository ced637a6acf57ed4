import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { OptionError } from '@troupe/core';
import { checkOptions, flag, object, text, wholeNumber } from '@troupe/core/option-check';
import { type Dashboard, dashboard } from './dashboard.js';
import type { DashboardOptions } from './dashboard-options.js';

/** The whole head of a request has to be here within this time; a peer that drips bytes is cut off. */
const HEAD_MS = 10_000;
/** And its body within this. Answers may take longer. */
const BODY_MS = 120_000;
const KEEP_ALIVE_MS = 30_000;
const HEAD_BYTES_MAX = 16 * 1024;
const CONNECTIONS_MAX = 1_024;
const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

export interface ServeOptions extends DashboardOptions {
  /** Port; 0 is a free one. Default 7420. */
  readonly port?: number | undefined;
  /** Address to listen on. Anything but loopback needs tokens, and TLS or `insecure`. Default 127.0.0.1. */
  readonly address?: string | undefined;
  readonly tls?:
    | {
        /** The private key, as PEM. */
        readonly key: string | Buffer;
        /** The certificate, as PEM. Default: no TLS. */
        readonly cert: string | Buffer;
      }
    | undefined;
  /** Allows tokens to travel without TLS. Default false. */
  readonly insecure?: boolean | undefined;
}

/** A dashboard that listens. */
export class DashboardServer implements AsyncDisposable {
  /** Where it listens: `http://127.0.0.1:7420`. */
  readonly url: string;
  private readonly server: Server;

  constructor(server: Server, scheme: 'http' | 'https') {
    this.server = server;
    const { address, family, port } = server.address() as AddressInfo; // it listens on TCP
    this.url = `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Ends open streams too. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The API over HTTP, on loopback unless an address is given. */
export async function serveDashboard(options: ServeOptions): Promise<DashboardServer> {
  const { port = 7_420, address = '127.0.0.1', tls, insecure = false, ...rest } = options;
  checkOptions(
    'serveDashboard',
    { port, address, tls, insecure },
    { port: wholeNumber(0, 65_535), address: text(255), tls: object, insecure: flag },
  );
  if (!LOOPBACK.has(address)) checkPublic(address, rest.tokens ?? [], tls !== undefined || insecure);
  const server = makeServer(dashboard(rest), tls);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, () => resolve());
  });
  return new DashboardServer(server, tls === undefined ? 'http' : 'https');
}

function makeServer({ fetch }: Dashboard, tls: ServeOptions['tls']): Server {
  const listener = getRequestListener((request, { incoming }) =>
    fetch(request, { remote: (incoming as IncomingMessage).socket.remoteAddress }),
  );
  const limits = { maxHeaderSize: HEAD_BYTES_MAX, connectionsCheckingInterval: 1_000 };
  const server =
    tls === undefined
      ? createHttpServer(limits, listener)
      : createHttpsServer({ ...limits, ...tls }, listener);
  server.headersTimeout = HEAD_MS;
  server.requestTimeout = BODY_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.maxConnections = CONNECTIONS_MAX;
  return server;
}

function checkPublic(address: string, tokens: readonly unknown[], isSecret: boolean): void {
  if (tokens.length === 0) throw new OptionError('serveDashboard.tokens', [], `needed on ${address}`);
  if (!isSecret)
    throw new OptionError('serveDashboard.tls', undefined, `needed on ${address}, or insecure: true`);
}
