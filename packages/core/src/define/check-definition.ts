import { MisuseError, OptionError } from '../errors/error-classes.js';
import { LEVELS } from '../mailbox/levelled-queue.js';
import { OVERFLOW_POLICIES } from '../mailbox/overflow-policy.js';
import { middlewareList } from '../middleware/check-middleware.js';
import {
  anything,
  array,
  callback,
  checkOption,
  checkOptions,
  name,
  number,
  object,
  oneOf,
  options,
  rule,
  wholeNumber,
} from '../option-check.js';
import type { AnyDefinition, LooseSpec } from './actor-definition.js';
import { layoutFields } from './fixed-layout.js';
import { supervisionPolicy } from './supervision-policy.js';

const DEFINITION_RULES = {
  handlers: anything,
  phases: object,
  illegal: oneOf(['dead-letter', 'stash']),
  state: callback,
  started: callback,
  stopping: callback,
  stopped: callback,
  restarting: callback,
  terminated: callback,
  idle: callback,
  mailbox: options({ capacity: wholeNumber(1), overflow: oneOf(OVERFLOW_POLICIES), levels: object }),
  supervise: supervisionPolicy,
  throughput: wholeNumber(1),
  stopWithinMs: number(0),
  stashMax: wholeNumber(1),
  retryable: array,
  middleware: middlewareList,
  layouts: object,
  module: rule('the address of a module, import.meta.url', (value) => typeof value === 'string'),
};

/** Refuses a definition that could not work, with the option, the value and the rule. */
export function checkDefinition(actor: unknown, spec: LooseSpec): void {
  checkOption('defineActor name', actor, name);
  checkOptions(`${actor}`, spec, DEFINITION_RULES);
  checkHandlers(`${actor}.handlers`, spec.handlers);
  for (const [phase, handlers] of Object.entries(spec.phases ?? {}))
    checkHandlers(`${actor}.phases.${phase}`, handlers);
  for (const [handler, level] of Object.entries(spec.mailbox?.levels ?? {})) {
    checkHandlerExists(spec, `${actor}.mailbox.levels.${handler}`, handler, level);
    checkOption(`${actor}.mailbox.levels.${handler}`, level, oneOf(LEVELS));
  }
  for (const [handler, layout] of Object.entries(spec.layouts ?? {})) {
    checkHandlerExists(spec, `${actor}.layouts.${handler}`, handler, layout);
    layoutFields(layout, `${actor}.layouts.${handler}`);
  }
  for (const handler of spec.retryable ?? [])
    checkHandlerExists(spec, `${actor}.retryable`, handler, handler);
}

function checkHandlerExists(spec: LooseSpec, option: string, handler: string, value: unknown): void {
  if (!Object.hasOwn(spec.handlers, handler))
    throw new OptionError(option, value, 'there is no such handler');
}

function checkHandlers(what: string, handlers: unknown): void {
  checkOption(what, handlers, object);
  for (const [handler, run] of Object.entries(handlers as object)) {
    if (handler.startsWith('~'))
      throw new OptionError(`${what}.${handler}`, run, 'needed a name without ~ in front');
    checkOption(`${what}.${handler}`, run, callback);
  }
}

export function checkIsDefinition(value: unknown): asserts value is AnyDefinition {
  const isDefinition = typeof value === 'object' && value !== null && '~spec' in value;
  if (!isDefinition) throw new MisuseError('spawn: needed a definition made by defineActor');
}
