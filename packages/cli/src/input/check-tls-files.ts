import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { CliError } from '../cli-error.js';
import { ExitCode } from '../exit-code.js';

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
