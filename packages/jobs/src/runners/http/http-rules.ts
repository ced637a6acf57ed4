import type { BlockList } from 'node:net';
import { listOf, number, rule, wholeNumber } from '@troupe/core/option-check';
import { RunnerRefusedError } from '../../jobs-error.js';
import { addressList, isInList, isNetwork, isPublicAddress } from './node-public-address.js';

export interface HttpRunnerOptions {
  /**
   * Hosts that jobs may call: `api.example.com`, `*.example.com` for every host below it, with a port for
   * others than 80 and 443: `api.example.com:8443`.
   */
  readonly hosts: readonly string[];
  /** Private addresses and networks that a host may have, such as `10.1.2.0/24`. Default: none. */
  readonly privateAddresses?: readonly string[] | undefined;
  /** Redirects that are followed, each checked like the first request. Default 5. */
  readonly redirectsMax?: number | undefined;
  /** Bytes of a response body; beyond it the attempt fails. Default 67,108,864. */
  readonly bodyBytesMax?: number | undefined;
  /** Time for the connection and the head of a response. Default 30,000. */
  readonly headMsMax?: number | undefined;
}

const HOST = /^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/;
const V6_HOST = /^\[[0-9a-f:.]+\](:\d{1,5})?$/;
const host = rule(
  'a host such as api.example.com, *.example.com or localhost:8080',
  (value) => typeof value === 'string' && (HOST.test(value) || V6_HOST.test(value)),
);

export const HTTP_RULES = {
  hosts: listOf(host),
  privateAddresses: listOf(rule('an address or a network such as 10.1.2.0/24', isNetwork)),
  redirectsMax: wholeNumber(0, 100),
  bodyBytesMax: wholeNumber(0),
  headMsMax: number(1, 3_600_000),
};

/** The hosts and addresses that a worker allows. */
export class HttpRules {
  readonly redirectsMax: number;
  readonly bodyBytesMax: number;
  readonly headMsMax: number;
  private readonly hosts: readonly string[];
  private readonly privateAddresses: BlockList;

  constructor(options: HttpRunnerOptions) {
    this.hosts = options.hosts;
    this.privateAddresses = addressList(options.privateAddresses ?? []);
    this.redirectsMax = options.redirectsMax ?? 5;
    this.bodyBytesMax = options.bodyBytesMax ?? 64 * 1024 * 1024;
    this.headMsMax = options.headMsMax ?? 30_000;
  }

  /** Throws RunnerRefusedError unless the URL names an allowed host. */
  checkUrl(url: URL, before: URL | undefined): void {
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw new RunnerRefusedError(`protocol ${url.protocol} is not http or https`);
    if (before?.protocol === 'https:' && url.protocol === 'http:')
      throw new RunnerRefusedError(`a redirect from https to http, to ${url.host}`);
    if (url.username !== '' || url.password !== '') throw new RunnerRefusedError('a user name in the URL');
    // `host` has no port where it is the usual one of the protocol.
    const { hostname, port } = url;
    const isAllowed = this.hosts.some((one) => matches(one, hostname, port));
    if (!isAllowed) throw new RunnerRefusedError(`host ${url.host} is not on the worker's list`);
  }

  /** Throws RunnerRefusedError for a private address that is not listed. */
  checkAddress(hostname: string, address: string): void {
    if (isPublicAddress(address) || isInList(this.privateAddresses, address)) return;
    throw new RunnerRefusedError(`host ${hostname} has the private address ${address}`);
  }
}

function matches(allowed: string, hostname: string, port: string): boolean {
  const [, name = '', allowedPort = ''] = /^(.*?)(?::(\d+))?$/.exec(allowed) ?? [];
  const isV6 = allowed.startsWith('[');
  const [pattern, wanted] = isV6 ? splitV6(allowed) : [name, allowedPort];
  if (wanted !== port) return false;
  const isBelow = pattern.startsWith('*.') && hostname.endsWith(pattern.slice(1));
  return hostname === pattern || isBelow;
}

function splitV6(allowed: string): readonly [string, string] {
  const end = allowed.indexOf(']') + 1;
  return [allowed.slice(0, end), allowed.slice(end + 1)];
}
