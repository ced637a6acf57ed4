import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { findModuleFile, moduleFileRemedy } from '@troupe/core/module-file';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const files = suite('module files');

const ENTRY = '@troupe/no-such-package/thread';

function folder() {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-files-')));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

function found(at: string, path: string, entry = ENTRY): string | undefined {
  const url = findModuleFile({ path, from: pathToFileURL(join(at, 'main.js')).href, entry });
  return url && fileURLToPath(url);
}

files('a file at its path is found first, then one of its name beside the module that names it', () => {
  using place = folder();
  const beside = join(place.path, 'fold.js');
  writeFileSync(beside, '');
  assert.is(found(place.path, '../ledger/fold.js'), beside);
  mkdirSync(join(place.path, 'ledger'));
  const exact = join(place.path, 'ledger', 'fold.js');
  writeFileSync(exact, '');
  assert.is(found(place.path, './ledger/fold.js'), exact);
});

files('a file beside the program is found from a bundle that knows no address of its own', () => {
  const name = 'node-module-file.test.js';
  const program = process.argv[1] ?? '';
  const url = findModuleFile({ path: `./${name}`, from: undefined, entry: ENTRY });
  assert.ok(existsSync(join(program, '..', name)));
  assert.is(url?.href, new URL(name, pathToFileURL(program)).href);
});

files('without a file the installed package is asked for its entry', () => {
  const here = fileURLToPath(new URL('.', import.meta.url));
  const entry = found(here, './no-such-file.js', '@troupe/core/testing');
  assert.match(entry ?? '', /core.dist.testing.index\.js$/);
});

files('a file that is nowhere is undefined, and its remedy names entry and file', () => {
  using place = folder();
  assert.is(found(place.path, './node-x-main.js'), undefined);
  assert.is(
    moduleFileRemedy({ path: './node-x-main.js', from: undefined, entry: ENTRY }),
    `a bundle needs ${ENTRY} as an entry of its own, written to node-x-main.js beside it`,
  );
});

files.run();
