import { UnsafeBindError } from '../transport-error.js';
import type { Address } from './net-interface.js';

const LOOPBACK_V4 = /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/;
const MAPPED_V4 = /^::ffff:(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})$/i;
const V6_GROUPS = 8;

export const DEFAULT_HOST = '127.0.0.1';

/** Loopback or a Unix socket. */
export function isLocal(address: Address): boolean {
  if ('path' in address) return true;
  const host = address.host ?? DEFAULT_HOST;
  return LOOPBACK_V4.test(host) || host === '::1' || host === 'localhost';
}

/** Several are separated by commas. */
export function formatAddresses(address: Address | readonly Address[]): string {
  return 'length' in address ? address.map(formatAddress).join(',') : formatAddress(address);
}

export function formatAddress(address: Address): string {
  if ('path' in address) return `unix:${address.path}`;
  const host = address.host ?? DEFAULT_HOST;
  return host.includes(':') ? `[${host}]:${address.port}` : `${host}:${address.port}`;
}

/** An address as `formatAddress` writes it; undefined for another text. */
export function parseAddress(text: string): Address | undefined {
  if (text.startsWith('unix:')) return { path: text.slice('unix:'.length) };
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  return host === undefined ? undefined : { host, port: Number(digits) };
}

/** The key of per-address limits: an IPv4 address, or the /64 of an IPv6 address, which one host owns. */
export function addressKey(remote: string): string {
  const mapped = MAPPED_V4.exec(remote)?.[1];
  if (mapped !== undefined) return mapped;
  if (!remote.includes(':')) return remote;
  const [head = '', tail] = (remote.split('%')[0] ?? '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(V6_GROUPS - left.length - right.length, 0);
  const groups = [...left, ...Array.from({ length: zeros }, () => '0'), ...right];
  return `${groups.slice(0, 4).map(shortGroup).join(':')}::/64`;
}

/** Throws an UnsafeBindError where a public address has no TLS, no authentication, or the trusted profile. */
export function checkBind(
  address: Address,
  security: {
    readonly tls: boolean;
    readonly auth: boolean;
    readonly trusted: boolean;
    readonly insecure: boolean;
  },
): void {
  if (isLocal(address) || security.insecure) return;
  const missing = [
    ...(security.tls ? [] : ['TLS']),
    ...(security.auth ? [] : ['authentication']),
    ...(security.trusted ? ["profile 'public'"] : []),
  ];
  if (missing.length > 0) throw new UnsafeBindError(formatAddress(address), missing);
}

function shortGroup(group: string): string {
  return Number.parseInt(group, 16).toString(16);
}
