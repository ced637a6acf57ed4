const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Host names that requests may name. A page of another site whose name resolves to this address (DNS
 * rebinding) names that site, and is refused.
 */
export class HostCheck {
  private readonly names: ReadonlySet<string>;

  constructor(hosts: readonly string[]) {
    this.names = new Set([...LOOPBACK_NAMES, ...hosts.map((host) => host.toLowerCase())]);
  }

  accepts(host: string | null): boolean {
    if (host === null) return false;
    const name = host.toLowerCase().replace(/:\d{1,5}$/, '');
    return this.names.has(name) || this.names.has(host.toLowerCase());
  }
}

/** Whether a browser says that a page of another site made the request. Programs send neither header. */
export function isCrossSite(headers: Headers): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site !== 'same-origin' && site !== 'none';
  const origin = headers.get('origin');
  return origin !== null && hostOf(origin) !== headers.get('host');
}

function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
}
