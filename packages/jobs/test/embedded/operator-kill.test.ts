// timeout: 120s
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tempFolder } from '../temp-folder.js';
import { ACTS, openEmpty } from './killed-operator.js';

const kills = suite('kill -9 after an act');
const CHILD = fileURLToPath(new URL('./killed-operator.js', import.meta.url));

for (const [name, { after, expected }] of Object.entries(ACTS))
  kills(`an answered act outlives a kill of its process: ${name}`, async () => {
    await using folder = await tempFolder();
    const child = spawn(process.execPath, [CHILD, folder.path, name], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    const [, signal] = await exited;
    assert.is(signal, 'SIGKILL');
    await using app = await openEmpty(folder.path);
    assert.is(await after(app.client({ name: 'ann' })), expected);
  });

kills.run();
