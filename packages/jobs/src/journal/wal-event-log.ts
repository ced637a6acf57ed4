import type { Host, LogLevel } from '@troupe/core';
import type { WalEvent } from '@troupe/wal';

/** Writes one line for an event of the log that concerns an operator. The field `wal` has its kind. */
export function logWalEvent(host: Pick<Host, 'log'>, event: WalEvent): void {
  const [level, message] = lineOf(event);
  if (level !== undefined) host.log({ level, message, fields: { wal: event.kind } });
}

function lineOf(event: WalEvent): readonly [LogLevel | undefined, string] {
  switch (event.kind) {
    case 'torn-tail':
      return [
        'warn',
        `the log ended with ${event.bytes} bytes that are no batch, at byte ${event.offset} of ${event.file}: cut, and kept in quarantine/`,
      ];
    case 'lock-unavailable':
      return ['warn', `the folder has no lock of the kernel (${event.reason}); its epoch keeps others out`];
    case 'network-file-system':
      return [
        'warn',
        `the folder is on a network file system (${event.fileSystem}): neither its locks nor its syncs can be relied on`,
      ];
    case 'snapshot-fallback':
      return ['warn', `the newest snapshot is damaged, the one before it is used: ${event.reason}`];
    case 'sync-slow':
      return ['warn', `the disk is slow: a write has been running for ${Math.round(event.ms)} ms`];
    case 'disk-low':
      return [
        'warn',
        `the disk is nearly full: ${event.errno ?? `${event.freeBytes ?? 'unknown'} bytes free`}`,
      ];
    case 'disk-ok':
      return ['warn', 'the disk has space again'];
    case 'snapshot-failed':
      return [
        'warn',
        `a snapshot failed, ${event.consecutiveFailures} in succession: ${String(event.error)}`,
      ];
    case 'scrub-damage':
      return [
        'error',
        `${event.damage.file} is damaged at byte ${event.damage.offset}: ${event.damage.reason}`,
      ];
    case 'callback-threw':
      return ['error', `a callback of the log threw: ${String(event.error)}`];
    case 'snapshot-made':
    case 'scrub-finished':
      return [undefined, ''];
    default:
      return event satisfies never;
  }
}
