import { walJournal } from '@troupe/jobs';
import { type JournalPlace, journalConformance, memoryJournal } from '@troupe/jobs/testing';
import { suite } from 'uvu';
import { tempFolder } from '../temp-folder.js';

const rules = suite('rules of journals');

async function filePlace(): Promise<JournalPlace> {
  const folder = await tempFolder();
  return {
    open: () => walJournal({ dir: folder.path, freeBytesSoft: 0, onFatal: () => undefined }),
    // One process may open a folder once; `two leaders` of the simulation has the other case.
    fences: false,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

async function memoryPlace(): Promise<JournalPlace> {
  const log = { entries: [] };
  return {
    open: () => memoryJournal(log, setImmediate),
    fences: true,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

for (const [name, place] of [
  ['file log', filePlace],
  ['memory', memoryPlace],
] as const)
  for (const { title, run } of journalConformance(place)) rules(`${name}: ${title}`, run);

rules.run();
