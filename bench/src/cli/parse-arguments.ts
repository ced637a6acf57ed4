import type { Runtime } from '../runner/run-process.js';
import { UsageError } from '../runner/usage-error.js';

/** Files for the results. */
export interface Outputs {
  readonly json?: string | undefined;
  readonly html?: string | undefined;
  readonly md?: string | undefined;
  readonly svg?: string | undefined;
}

export interface SuiteCommand {
  readonly kind: 'suite';
  readonly suite: string;
  /** `undefined`: the list of the suite. */
  readonly systems: readonly string[] | undefined;
  readonly only: readonly string[] | undefined;
  readonly scale: number;
  readonly rounds: number | undefined;
  readonly runtimes: readonly Runtime[];
  readonly adapters: readonly string[];
  readonly outputs: Outputs;
}

export interface GateCommand {
  readonly kind: 'gate';
  readonly suite: string;
  readonly base: string;
  readonly only: readonly string[] | undefined;
  readonly scale: number;
  readonly rounds: number | undefined;
  readonly outputs: Outputs;
}

export interface ReportCommand {
  readonly kind: 'report';
  readonly files: readonly string[];
  readonly into: string | undefined;
  readonly outputs: Outputs;
}

export type BenchCommand =
  | { readonly kind: 'list' }
  | { readonly kind: 'help' }
  | { readonly kind: 'install-peers' }
  | SuiteCommand
  | GateCommand
  | ReportCommand;

const optionNames = [
  'systems',
  'peers',
  'only',
  'scale',
  'rounds',
  'runtime',
  'adapter',
  'json',
  'html',
  'md',
  'svg',
  'suite',
  'base',
  'into',
] as const;
type Option = (typeof optionNames)[number];

const allowed: Readonly<Record<'suite' | 'gate' | 'report', readonly Option[]>> = {
  suite: ['systems', 'peers', 'only', 'scale', 'rounds', 'runtime', 'adapter', 'json', 'html', 'md', 'svg'],
  gate: ['suite', 'only', 'scale', 'rounds', 'base', 'json', 'html', 'md'],
  report: ['into', 'json', 'html', 'md', 'svg'],
};

function isOption(name: string): name is Option {
  return (optionNames as readonly string[]).includes(name);
}

interface ParsedWords {
  readonly bare: string[];
  readonly options: Map<Option, string[]>;
  readonly flags: Set<string>;
}

function readOption(word: string, next: string | undefined): { name: Option; value: string; took: number } {
  const equals = word.indexOf('=');
  const name = equals === -1 ? word.slice(2) : word.slice(2, equals);
  if (!isOption(name)) throw new UsageError(`unknown option --${name}: npm run bench -- --help lists them`);
  const value = equals === -1 ? next : word.slice(equals + 1);
  if (value === undefined || value === '' || (equals === -1 && value.startsWith('--'))) {
    throw new UsageError(`--${name} needs a value`);
  }
  return { name, value, took: equals === -1 ? 2 : 1 };
}

function split(words: readonly string[]): ParsedWords {
  const result: ParsedWords = { bare: [], options: new Map(), flags: new Set() };
  for (let at = 0; at < words.length; ) {
    const word = words[at] ?? '';
    if (word === '--help' || word === '-h' || word === '--install-peers') {
      result.flags.add(word === '-h' ? '--help' : word);
      at += 1;
    } else if (word.startsWith('-')) {
      const { name, value, took } = readOption(word, words[at + 1]);
      result.options.set(name, [...(result.options.get(name) ?? []), value]);
      at += took;
    } else {
      result.bare.push(word);
      at += 1;
    }
  }
  return result;
}

function last(words: ParsedWords, name: Option): string | undefined {
  return words.options.get(name)?.at(-1);
}

function list(words: ParsedWords, name: Option): string[] | undefined {
  const values = words.options.get(name)?.flatMap((value) => value.split(','));
  const names = values?.map((value) => value.trim()).filter((value) => value !== '');
  if (names !== undefined && names.length === 0) throw new UsageError(`--${name} has no names`);
  return names === undefined ? undefined : [...new Set(names)];
}

/** `--peers a,b` is short for `--systems troupe,a,b`. */
function withPeers(peers: string[] | undefined): string[] | undefined {
  return peers === undefined ? undefined : ['troupe', ...peers];
}

function scaleOf(words: ParsedWords): number {
  const text = last(words, 'scale');
  if (text === undefined) return 1;
  const scale = Number(text);
  if (!Number.isFinite(scale) || scale <= 0) {
    throw new UsageError(`--scale must be a number above 0, got '${text}'`);
  }
  return scale;
}

function roundsOf(words: ParsedWords): number | undefined {
  const text = last(words, 'rounds');
  if (text === undefined) return undefined;
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 1_000) {
    throw new UsageError(`--rounds must be a whole number from 1 to 1000, got '${text}'`);
  }
  return count;
}

function runtimesOf(words: ParsedWords): Runtime[] {
  return (list(words, 'runtime') ?? ['node']).map((name) => {
    if (name === 'node' || name === 'bun' || name === 'deno') return name;
    throw new UsageError(`unknown runtime '${name}': there are node, bun, deno`);
  });
}

function outputsOf(words: ParsedWords): Outputs {
  return {
    json: last(words, 'json'),
    html: last(words, 'html'),
    md: last(words, 'md'),
    svg: last(words, 'svg'),
  };
}

function checkOptions(words: ParsedWords, kind: 'suite' | 'gate' | 'report'): void {
  for (const name of words.options.keys()) {
    if (!allowed[kind].includes(name))
      throw new UsageError(`--${name} is not an option of ${words.bare[0] ?? kind}`);
  }
}

function checkOneSuite(words: ParsedWords): void {
  const extra = words.bare[1];
  if (extra !== undefined) throw new UsageError(`one suite at a time, got '${extra}' as well`);
}

export function parseArguments(argv: readonly string[]): BenchCommand {
  const words = split(argv);
  const [first] = words.bare;
  if (words.flags.has('--help')) return { kind: 'help' };
  if (words.flags.has('--install-peers')) {
    if (first !== undefined || words.options.size > 0)
      throw new UsageError('--install-peers takes no suite and no options');
    return { kind: 'install-peers' };
  }
  if (first === undefined) {
    const [option] = words.options.keys();
    if (option !== undefined) throw new UsageError(`--${option} needs a suite: npm run bench lists them`);
    return { kind: 'list' };
  }
  const outputs = outputsOf(words);
  if (first === 'report') {
    checkOptions(words, 'report');
    const files = words.bare.slice(1);
    if (files.length === 0) throw new UsageError('report needs a recorded JSON file');
    return { kind: 'report', files, into: last(words, 'into'), outputs };
  }
  checkOneSuite(words);
  const common = { only: list(words, 'only'), scale: scaleOf(words), rounds: roundsOf(words), outputs };
  if (first === 'gate') {
    checkOptions(words, 'gate');
    const suite = last(words, 'suite') ?? 'core';
    return { kind: 'gate', suite, base: last(words, 'base') ?? 'HEAD', ...common };
  }
  checkOptions(words, 'suite');
  return {
    kind: 'suite',
    suite: first,
    systems: list(words, 'systems') ?? withPeers(list(words, 'peers')),
    runtimes: runtimesOf(words),
    adapters: words.options.get('adapter') ?? [],
    ...common,
  };
}
