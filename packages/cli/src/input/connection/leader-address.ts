import type { Address } from '@troupe/transport';
import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';

export const DEFAULT_PORT = 7419;

/** One address, or several separated by commas. */
export function parseAddresses(text: string): Address | Address[] {
  return text.includes(',') ? text.split(',').map(parseAddress) : parseAddress(text);
}

/** `host:port`, `host`, `:port`, a bare port, or `unix:/path`. */
export function parseAddress(text: string): Address {
  if (text.startsWith('unix:')) return { path: socketPath(text.slice('unix:'.length)) };
  if (/^\d+$/.test(text)) return { host: '127.0.0.1', port: portOf(text, text) };
  const [, bracketed, plain = '', digits] = /^(?:\[([^\]]+)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === '' && digits === undefined) throw bad(text);
  return {
    host: host === '' ? '127.0.0.1' : host,
    port: digits === undefined ? DEFAULT_PORT : portOf(digits, text),
  };
}

/** The longest socket path of the operating systems; a longer one would be cut off silently. */
const SOCKET_BYTES_MAX = 103;

export function socketPath(path: string): string {
  const bytes = Buffer.byteLength(path);
  if (bytes >= 1 && bytes <= SOCKET_BYTES_MAX) return path;
  throw new CliError(
    'ERR_CLI_ADDRESS',
    ExitCode.usage,
    `socket '${path}': needed a path of 1 to ${SOCKET_BYTES_MAX} bytes`,
  );
}

function portOf(digits: string, text: string): number {
  const port = Number(digits);
  if (port > 65_535) throw bad(text);
  return port;
}

function bad(text: string): CliError {
  return new CliError('ERR_CLI_ADDRESS', ExitCode.usage, `address '${text}': needed host:port or unix:/path`);
}
