// npm run reference: writes docs/reference from the sources, and the made parts of docs/cli.md from the built commands. `npm run tidy` reports pages that are out of date.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMAND_PAGE, commandPage } from './reference/command-page.mjs';
import { generateReference } from './reference/generate-reference.mjs';
import { readTree } from './tidy/tree.mjs';
import { root } from './workspace.mjs';

const folder = join(root, 'docs/reference');
const { texts, findings } = generateReference(readTree(root));
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder)) if (!texts.has(`docs/reference/${name}`)) rmSync(join(folder, name));
for (const [path, text] of texts) writeFileSync(join(root, path), text);
const page = join(root, COMMAND_PAGE);
const commands = commandPage(readFileSync(page, 'utf8'));
if (commands === undefined) console.log(`${COMMAND_PAGE} cannot be made before npm run build`);
else writeFileSync(page, commands);
for (const { file, line, text } of findings)
  console.log(`${line === undefined ? file : `${file}:${line}`} ${text}`);
console.log(`reference: ${texts.size} pages, ${findings.length} findings`);
