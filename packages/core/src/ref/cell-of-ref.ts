import type { ActorCell } from '../actor/actor-cell.js';
import { OptionError } from '../errors.js';

/** The actor that a ref stands for, at present; anything but a ref is refused by its place in the call. */
export function cellOfRef(argument: string, given: unknown): ActorCell {
  const cell = (given as { readonly cell?: Partial<ActorCell> } | null | undefined)?.cell;
  if (typeof cell !== 'object' || cell?.ref === undefined)
    throw new OptionError(argument, given, 'needed the ref of an actor or a pool');
  return cell as ActorCell;
}
