import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { SystemOptions } from '@troupe/core';

/** A text of the compiled core and its replacement in the build without the feature. */
interface Cut {
  readonly file: string;
  readonly text: string;
  readonly replacement?: string;
}

interface Feature {
  readonly cuts?: readonly Cut[];
  readonly options?: SystemOptions;
}

const invoker = 'invoker/message-invoker.js';
const coordinator = 'run-queue/ready-queue-coordinator.js';
const delivery = 'mailbox/delivery.js';
const slots = 'run-queue/slots.js';

/** The check of a handler's result. It occurs twice in the source, with different indentation. */
function resultCheck(indent: string): Cut {
  const check = `if (result !== undefined && typeof result === 'object' && result !== null) {
${indent}    this.results.returned(mailbox, result, handler, undefined);
${indent}}
`;
  const call = 'const result = run(mailbox, payload);';
  return {
    file: invoker,
    text: `\n${indent}${call}\n${indent}${check}`,
    replacement: `\n${indent}${call}\n`,
  };
}

/**
 * The features, each switched off alone: by an option where one exists, else by cutting text out of a copy of
 * the compiled core. A cut whose text does not occur exactly once refuses its row.
 */
const features: Readonly<Record<string, Feature>> = {
  'without-recorder': {
    options: { recorder: false },
    cuts: [
      { file: coordinator, text: 'entries[at + 2] = this.running;' },
      { file: delivery, text: 'if (another)\n                this.record(queue, mailbox.slot, handler);' },
    ],
  },
  'without-counts': {
    cuts: [
      { file: slots, text: 'if (slot === earlier) {', replacement: 'if (slot !== 0) {' },
      { file: invoker, text: 'ready.slots.count(mailbox.slot, handled - 1);', replacement: '{ }' },
    ],
  },
  'without-bounds': {
    cuts: [
      {
        file: delivery,
        text: 'queue !== SHARED_EMPTY_QUEUE &&\n            (queue.length < type.hardCapacity || this.isUnlimited(type, queue.length)) &&\n            ready.queued < ready.queuedMax',
        replacement: 'queue !== SHARED_EMPTY_QUEUE',
      },
      {
        file: delivery,
        text: 'if (over > 0 && (another || (over & MUTE_CHECK_MASK) === 1))\n                ready.backPressure.muteSender(mailbox);',
      },
    ],
  },
  'without-isolation': {
    cuts: [
      {
        file: invoker,
        text: 'try {\n                if (handler >= 0)',
        replacement: '{\n                if (handler >= 0)',
      },
      {
        file: invoker,
        text: 'catch (error) {\n                this.caught(mailbox, error, handler, payload);\n            }',
      },
      {
        file: invoker,
        text: 'try {\n            if (handler >= 0)',
        replacement: '{\n            if (handler >= 0)',
      },
      {
        file: invoker,
        text: 'catch (error) {\n            this.caught(mailbox, error, handler, payload);\n        }',
      },
    ],
  },
  'without-async': {
    cuts: [resultCheck('                    '), resultCheck('                ')],
  },
  'without-interruption': {
    cuts: [
      {
        file: invoker,
        text: 'if (handler === WITHOUT_MESSAGE || (mailbox.status & NEEDS_SLOW_PATH) !== 0) {',
        replacement: 'if (handler === WITHOUT_MESSAGE) {',
      },
      { file: invoker, text: 'if ((mailbox.status & ENDS_BATCH) !== 0)\n                break;' },
    ],
  },
  'without-forgetting': {
    cuts: [
      { file: coordinator, text: 'this.payloads[head] = undefined;' },
      { file: 'mailbox/message-queue.js', text: 'read[head] = undefined;' },
    ],
  },
  'without-slices': { options: { slice: { msMin: 1e9, msMax: 1e9 } } },
  'without-warnings': { options: { warn: false } },
};

export const featureNames: readonly string[] = Object.keys(features);

export function optionsWithout(name: string): SystemOptions {
  return features[name]?.options ?? {};
}

/** A temporary copy of the compiled core. */
export interface Build {
  readonly url: string;
  remove(): Promise<void>;
}

export async function buildWithout(name: string | undefined): Promise<Build> {
  const dist = dirname(fileURLToPath(import.meta.resolve('@troupe/core')));
  const folder = await mkdtemp(join(tmpdir(), 'troupe-features-'));
  const copy = join(folder, 'dist');
  await cp(dist, copy, { recursive: true, filter: (path) => !/\.(d\.ts|map|tsbuildinfo)$/.test(path) });
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await symlink(join(dist, '../node_modules'), join(folder, 'node_modules'));
  const build: Build = {
    url: pathToFileURL(join(copy, 'index.js')).href,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
  try {
    for (const cut of (name === undefined ? undefined : features[name]?.cuts) ?? []) await apply(copy, cut);
  } catch (error) {
    await build.remove();
    throw error;
  }
  return build;
}

async function apply(folder: string, { file, text, replacement = '' }: Cut): Promise<void> {
  const path = join(folder, file);
  const source = await readFile(path, 'utf8');
  const parts = source.split(text);
  if (parts.length !== 2) {
    throw new RangeError(`${file} contains ${parts.length - 1} times, not once: ${text.slice(0, 60)}`);
  }
  await writeFile(path, parts.join(replacement));
}
