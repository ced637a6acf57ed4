// npm run tidy: the rules of docs/style.md that a program can check. --quiet leaves out what is only printed.
import { checkConventions, fullFolders } from './tidy/conventions.mjs';
import { checkCycles } from './tidy/cycles.mjs';
import {
  checkAdrIndex,
  checkFragments,
  checkIndex,
  checkLinks,
  checkMaps,
  checkSemantics,
} from './tidy/documents.mjs';
import { checkErrorCatalogue } from './tidy/error-catalogue.mjs';
import { checkLayers } from './tidy/layers.mjs';
import { longOnes } from './tidy/lengths.mjs';
import { checkPlaces } from './tidy/places.mjs';
import { checkCommandPage, checkReference } from './tidy/reference.mjs';
import { checkCommentSubjects, checkRetiredWords } from './tidy/retired-words.mjs';
import { checkStatusWrites } from './tidy/status-writes.mjs';
import { checkStrayIo } from './tidy/stray-io.mjs';
import { checkTests } from './tidy/test-hygiene.mjs';
import { readTree } from './tidy/tree.mjs';
import { checkNames, checkWords } from './tidy/words.mjs';
import { root } from './workspace.mjs';

const checks = {
  layers: checkLayers,
  cycles: checkCycles,
  'stray I/O': checkStrayIo,
  'status word': checkStatusWrites,
  words: checkWords,
  names: checkNames,
  tests: checkTests,
  errors: checkErrorCatalogue,
  links: checkLinks,
  fragments: checkFragments,
  index: checkIndex,
  maps: checkMaps,
  decisions: checkAdrIndex,
  semantics: checkSemantics,
  reference: checkReference,
  commands: checkCommandPage,
  places: checkPlaces,
  vocabulary: checkRetiredWords,
  comments: checkCommentSubjects,
  conventions: checkConventions,
};

const tree = readTree(root);
let count = 0;
for (const [name, check] of Object.entries(checks)) {
  for (const finding of check(tree)) {
    count += 1;
    console.log(`${position(finding)} ${name}: ${finding.text}`);
  }
}
if (!process.argv.includes('--quiet')) {
  for (const finding of longOnes(tree)) console.log(`${position(finding)} long: ${finding.text}`);
  for (const finding of fullFolders(tree)) console.log(`${position(finding)} full: ${finding.text}`);
}
console.log(count === 0 ? `tidy: ${tree.paths().length} files, nothing found` : `tidy: ${count} findings`);
process.exitCode = count === 0 ? 0 : 1;

/** @param {import('./tidy/tree.mjs').Finding} finding */
function position({ file, line }) {
  return line === undefined ? file : `${file}:${line}`;
}
