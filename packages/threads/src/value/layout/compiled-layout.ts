import { type FieldCodec, UnfitValue } from './field-codec.js';
import type { ReadPayload, WritePayload } from './layout-codec.js';

/**
 * Functions for exactly these fields, from their text: an object literal with constant names is ten times as
 * fast as one that is filled name by name. Undefined where the process forbids code from text: the same is
 * then done field by field.
 */
export function compileLayout(
  codecs: readonly FieldCodec[],
): { readonly write: WritePayload; readonly read: ReadPayload } | undefined {
  try {
    const make = new Function('fields', 'UnfitValue', `return ${textOf(codecs)};`);
    return make(codecs, UnfitValue) as { write: WritePayload; read: ReadPayload };
  } catch {
    return undefined;
  }
}

function textOf(codecs: readonly FieldCodec[]): string {
  const isBare = codecs[0]?.name === undefined;
  const writes = codecs.map((codec, i) => `{ const value = payload${fieldOf(codec)}; ${writeOf(codec, i)} }`);
  const reads = codecs.map((codec, i) => `${keyOf(codec)}${readOf(codec, i)}`);
  const check =
    "if (typeof payload !== 'object' || payload === null) throw new UnfitValue(undefined, 'an object', payload);";
  return `{
    write(memory, view, at, payload) { ${isBare ? '' : check} ${writes.join(' ')} },
    read(memory, view, at) { return ${isBare ? reads[0] : `{ ${reads.join(', ')} }`}; },
  }`;
}

function fieldOf({ name }: FieldCodec): string {
  return name === undefined ? '' : `[${JSON.stringify(name)}]`;
}

function keyOf({ name }: FieldCodec): string {
  // In brackets: `__proto__` is a field like any other.
  return name === undefined ? '' : `[${JSON.stringify(name)}]: `;
}

function writeOf({ numbers, form, offset }: FieldCodec, i: number): string {
  const place = `at + ${offset}`;
  const refuse = `fields[${i}].refuse(value)`;
  if (numbers !== undefined)
    return `if (!(${fitOf(numbers.range)})) ${refuse}; view.set${numbers.method}(${place}, value, true);`;
  if (form !== 'boolean') return `fields[${i}].writeText(memory, view, ${place}, value);`;
  return `if (typeof value !== 'boolean') ${refuse}; memory[${place}] = value ? 1 : 0;`;
}

/** A bitwise operation on whole numbers of 32 bits, where that says the same. */
function fitOf(range: readonly [min: number, max: number] | undefined): string {
  if (range === undefined) return "typeof value === 'number'";
  const [min, max] = range;
  const isWhole = min < 0 ? '(value | 0) === value' : 'value >>> 0 === value';
  return `${isWhole} && value >= ${min} && value <= ${max}`;
}

function readOf({ numbers, form, offset }: FieldCodec, i: number): string {
  const place = `at + ${offset}`;
  if (numbers !== undefined) return `view.get${numbers.method}(${place}, true)`;
  return form === 'boolean' ? `memory[${place}] === 1` : `fields[${i}].readText(memory, view, ${place})`;
}
