import { actorPath } from '../actor-name-rule.js';
import type { AnyDefinition } from '../define/actor-definition.js';
import { checkIsDefinition } from '../define/check-definition.js';
import { boundedError, messageOf } from '../errors/bounded-error.js';
import { toError } from '../errors/thrown-value.js';
import { callback, checkOption } from '../option-check.js';
import type { CellRef } from '../ref/cell-ref.js';
import type { ActorCell } from './actor-cell.js';
import { isOf } from './name-registry.js';
import type { Parts } from './runtime-parts.js';

export type OnNameChange = (ref: CellRef | undefined) => void;

/** Watches of names, by outside code and by actors. */
export class NameWatches {
  private readonly runtime: Parts<'log' | 'registry'>;

  constructor(runtime: NameWatches['runtime']) {
    this.runtime = runtime;
  }

  /** By an actor: a change is a signal of the actor, and the watch ends with its incarnation. */
  watch(cell: ActorCell, definition: AnyDefinition, path: string, onChange: OnNameChange): () => void {
    let isFirst = true;
    let isOpen = true;
    const endWatch = this.begin(definition, path, onChange, (ref) => {
      // The first call is in the handler that has begun the watch.
      if (isFirst) onChange(ref);
      else cell.putSignal({ kind: 'name-changed', run: () => (isOpen ? onChange(ref) : undefined) });
    });
    isFirst = false;
    const cold = cell.ensureCold();
    const end = (): void => {
      isOpen = false;
      endWatch();
      cold.nameWatches?.delete(end);
    };
    cold.nameWatches ??= new Set();
    cold.nameWatches.add(end);
    return end;
  }

  /** By outside code: called back at once, and an error is logged. */
  watchFromOutside(definition: AnyDefinition, path: string, onChange: OnNameChange): () => void {
    return this.begin(definition, path, onChange, (ref) => {
      try {
        onChange(ref);
      } catch (thrown) {
        const error = boundedError(toError(thrown));
        this.runtime.log.write('error', `watchName(${path}) threw: ${messageOf(error)}`, { path, error });
      }
    });
  }

  private begin(
    definition: AnyDefinition,
    path: string,
    onChange: OnNameChange,
    notify: OnNameChange,
  ): () => void {
    checkIsDefinition(definition);
    checkOption('watchName.path', path, actorPath);
    checkOption('watchName.onChange', onChange, callback);
    return this.runtime.registry.watch(path, (ref) =>
      notify(ref !== undefined && isOf(definition, ref) ? ref : undefined),
    );
  }
}

/** At the end of an incarnation. */
export function endNameWatches(cell: ActorCell): void {
  for (const end of [...(cell.cold?.nameWatches ?? [])]) end();
}
