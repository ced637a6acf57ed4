import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyDefinition, RemoteDefinition } from '@troupe/core';
import { importModule } from '../thread/node-import-module.js';
import { ThreadDefinitionError } from '../thread/thread-errors.js';
import { messageOf } from '../value/message-of.js';

/** Refuses a definition that no thread could import. `entry`: the file that the program was started with. */
export function checkModule({ name, module }: RemoteDefinition, entry: string | undefined): void {
  if (module === undefined)
    throw new ThreadDefinitionError(
      name,
      module,
      'give it `module: import.meta.url`, so that a thread can import it',
    );
  if (entry !== undefined && urlOf(module) === urlOf(entry))
    throw new ThreadDefinitionError(
      name,
      module,
      'it is in the file that the program was started with, which a thread cannot import without starting the ' +
        'program again; move it to a module of its own',
    );
}

/** The definitions that a thread has imported. */
export class DefinitionLoader {
  private readonly loaded = new Map<string, AnyDefinition>();

  load(wanted: RemoteDefinition): AnyDefinition | Promise<AnyDefinition> {
    return this.loaded.get(keyOf(wanted)) ?? this.import(wanted);
  }

  private async import(wanted: RemoteDefinition): Promise<AnyDefinition> {
    const { name, module } = wanted;
    checkModule(wanted, undefined);
    let exported: Readonly<Record<string, unknown>>;
    try {
      exported = await importModule(urlOf(module as string));
    } catch (error) {
      throw new ThreadDefinitionError(
        name,
        module,
        `the module cannot be imported: ${messageOf(error)}`,
        error,
      );
    }
    const definition = findIn(exported, wanted);
    this.loaded.set(keyOf(wanted), definition);
    return definition;
  }
}

function findIn(
  exported: Readonly<Record<string, unknown>>,
  { name, module, handlers }: RemoteDefinition,
): AnyDefinition {
  const all = new Set(Object.values(exported).filter(isDefinition));
  const [found, other] = [...all].filter((definition) => definition.name === name);
  if (found === undefined)
    throw new ThreadDefinitionError(name, module, 'the module exports no definition of this name; export it');
  if (other !== undefined)
    throw new ThreadDefinitionError(
      name,
      module,
      'the module exports two definitions of this name; rename one',
    );
  if (found['~handlerNames'].join() !== handlers.join())
    throw new ThreadDefinitionError(
      name,
      module,
      `it has the handlers ${handlers.join(', ')} here and ${found['~handlerNames'].join(', ')} there; define it ` +
        'the same on every thread',
    );
  return found;
}

function isDefinition(value: unknown): value is AnyDefinition {
  return typeof value === 'object' && value !== null && '~spec' in value && '~handlerNames' in value;
}

function keyOf({ module, name, handlers }: RemoteDefinition): string {
  return JSON.stringify([module, name, handlers]);
}

function urlOf(module: string): string {
  return isAbsolute(module) ? pathToFileURL(module).href : module;
}
