// The vocabulary of docs/glossary.md, as far as a program can check it: words that were retired, codes that point at
// documents outside the repository, and comments whose subject is a pronoun.
import { lineAt } from './source-text.mjs';

/** @typedef {import('./tree.mjs').Tree} Tree */
/** @typedef {import('./tree.mjs').Finding} Finding */

/** Retired word → the word to use. Inflections are listed where they differ by more than an s. */
const retired = {
  aftermath: 'commit effects',
  anybody: 'the noun that is meant',
  bury: 'terminate, or dead-letter',
  burial: 'termination',
  buried: 'terminated, or dead-lettered',
  buries: 'terminates, or dead-letters',
  bye: 'drain',
  careless: 'the fault that is meant',
  chore: 'background task',
  desk: 'admin',
  drafter: 'encoder',
  elder: 'earlier, or previous sibling',
  eldest: 'first started',
  entrance: 'gate',
  equip: 'instrument',
  equipped: 'instrumented',
  equipment: 'middleware',
  face: 'methods, interface or API',
  favourite: 'sticky worker',
  forsaken: 'gone',
  gatekeeper: 'frame permission',
  ghost: 'placeholder',
  goodbye: 'drain',
  greet: 'hello',
  grip: 'deferred, or handle',
  heir: 'replacement',
  hired: 'started',
  inlet: 'message reader',
  likeness: 'template',
  lineage: 'child lists',
  mourn: 'reclaim, or notify',
  mourner: 'dead-letter hook',
  nobody: 'the noun that is meant',
  outlet: 'message writer',
  parcel: 'outgoing message',
  passage: 'message hook context',
  patience: 'wait limit',
  portion: 'slice, or part',
  pulse: 'heartbeat',
  quiesce: 'drain',
  reception: 'session registry',
  rouse: 'wake',
  seat: 'registration',
  somebody: 'the noun that is meant',
  speak: 'write, or flush',
  staff: 'roles',
  talkative: 'dirty',
  upkeep: 'maintenance',
  voice: 'outbound flush',
  weather: 'injected faults',
  whoever: 'the noun that is meant',
  younger: 'later, or next sibling',
  youngest: 'last started',
};

const checked =
  /^(packages|bench|scripts|docs|adr)\/.*\.(ts|mts|mjs|md|py)$|^[A-Z]+\.md$|^\.changeset\/.*\.md$/;
/** Pages and files that explain what was retired, and recorded texts. */
const exempt =
  /^(docs\/(glossary|style|origins)\.md|CHANGELOG\.md|scripts\/(test\/)?tidy\/retired-words(\.test)?\.mjs)$|\/fixtures\/|^bench\/erlang\//;

const words = new Map(
  Object.entries(retired).flatMap(([word, better]) => [
    [word, better],
    [`${word}s`, better],
  ]),
);

/** `TellFace` and `tell-face` are two words each, `interface` is one. @param {string} text */
function* wordsOf(text) {
  for (const match of text.matchAll(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g)) {
    yield { word: match[0].toLowerCase(), at: match.index };
  }
}

/** @param {Tree} tree @returns {Finding[]} */
export function checkRetiredWords(tree) {
  const files = tree.paths(checked).filter((file) => !exempt.test(file));
  return files.flatMap((file) => {
    const text = tree.text(file);
    const inName = [...wordsOf(file)].filter(({ word }) => words.has(word));
    return [
      ...inName.map(({ word }) => ({ file, text: `"${word}" in the name is retired: ${words.get(word)}` })),
      ...[...wordsOf(text)]
        .filter(({ word }) => words.has(word))
        .map(({ word, at }) => ({
          file,
          line: lineAt(text, at),
          text: `"${word}" is retired: ${words.get(word)}`,
        })),
      ...codesIn(file, text),
    ];
  });
}

// `(A13)`, `(E9, E10)`: numbers of lists that are not in the repository.
const codes = /\((?:[A-EW]\d{1,3})(?:, ?[A-EW]\d{1,3})*\)|\b[Tt]he seed's\b|\b[Oo]riginal page\b/g;

/** @param {string} file @param {string} text */
function codesIn(file, text) {
  return [...text.matchAll(codes)].map((match) => ({
    file,
    line: lineAt(text, match.index),
    text: `${match[0]} points outside the repository: say it in a sentence`,
  }));
}

const program = /^(packages|bench|scripts|docs)\/.*\.(ts|mts|mjs)$/;
const pronoun = /^[ \t]*(?:\/\/|\/?\*+)[ \t]*(What|Who|Whoever|Those|Nobody|Whose|Whatever)\b/gm;

/** A comment begins with a noun. @param {Tree} tree @returns {Finding[]} */
export function checkCommentSubjects(tree) {
  const files = tree.paths(program).filter((file) => !exempt.test(file));
  return files.flatMap((file) => {
    const text = tree.text(file);
    return [...text.matchAll(pronoun)].map((match) => ({
      file,
      line: lineAt(text, match.index + 1),
      text: `a comment begins with "${match[1]}": begin with the noun that is meant`,
    }));
  });
}
