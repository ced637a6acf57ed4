import { statSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';

/** A line about a private key that other users of this machine may read; undefined where they may not. */
export function readableKeyWarning(path: string): string | undefined {
  const isReadable = process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0;
  return isReadable ? `TLS: other users may read the key ${path}; run chmod 600 on it` : undefined;
}

/** Certificates and keys that go together and can be read; found out before anything is started. */
export function checkTlsFiles(files: Pick<SecureContextOptions, 'cert' | 'key' | 'ca'>): void {
  try {
    createSecureContext(files);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CliError(
      'ERR_CLI_TLS',
      ExitCode.config,
      `TLS: ${why}; check the files of the certificate, its key and the authority`,
      { cause },
    );
  }
}
