import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readableKeyWarning } from '#src/input/files/check-tls-files.js';

const files = suite('TLS files');

if (process.platform !== 'win32') {
  files('a key that other users may read is warned of, with the remedy', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'troupe-tls-'));
    const path = join(folder, 'key.pem');
    await writeFile(path, 'key');
    for (const [mode, isWarned] of [
      [0o644, true],
      [0o640, true],
      [0o600, false],
      [0o400, false],
    ] as const) {
      await chmod(path, mode);
      const warning = readableKeyWarning(path);
      assert.is(warning !== undefined && /chmod 600/.test(warning), isWarned, mode.toString(8));
    }
    await rm(folder, { recursive: true });
  });
}

files.run();
