import type { ByteWriter } from '../../bytes/byte-writer.js';
import type { AttemptProgress } from '../../protocol/worker/progress-messages.js';
import { readTexts, writeTexts } from '../wire-fields.js';
import type { WireReader } from '../wire-reader.js';

const HAS_SHARE = 1;
const HAS_NOTE = 2;
const HAS_WAIT = 4;

export function writeProgress(out: ByteWriter, all: readonly AttemptProgress[]): void {
  out.int(all.length);
  for (const { job, attempt, share, note, waitsForRunner, lines, dropped } of all) {
    out.int(job);
    out.int(attempt);
    out.byte(
      (share === undefined ? 0 : HAS_SHARE) |
        (note === undefined ? 0 : HAS_NOTE) |
        (waitsForRunner === undefined ? 0 : HAS_WAIT),
    );
    if (share !== undefined) out.double(share);
    if (note !== undefined) out.text(note);
    if (waitsForRunner !== undefined) out.text(waitsForRunner);
    out.int(dropped);
    writeTexts(out, lines);
  }
}

export function readProgress(from: WireReader): AttemptProgress[] {
  const count = from.int();
  const all: AttemptProgress[] = [];
  for (let i = 0; i < count; i += 1) {
    from.countItem();
    const job = from.int();
    const attempt = from.int();
    const flags = from.byte();
    const share = (flags & HAS_SHARE) === 0 ? undefined : from.double();
    const note = (flags & HAS_NOTE) === 0 ? undefined : from.text();
    const waitsForRunner = (flags & HAS_WAIT) === 0 ? undefined : from.text();
    const dropped = from.int();
    all.push({ job, attempt, share, note, waitsForRunner, lines: readTexts(from), dropped });
  }
  return all;
}
