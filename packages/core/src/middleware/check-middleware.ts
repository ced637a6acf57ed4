import { OptionError } from '../errors/error-classes.js';
import {
  array,
  callback,
  checkOption,
  name,
  type OptionProblem,
  type OptionRule,
  object,
} from '../option-check.js';
import type { Middleware } from './middleware.js';

const HOOKS = [
  'beforeTurn',
  'afterTurn',
  'beforeMessage',
  'afterMessage',
  'around',
  'onSend',
  'onDeadLetter',
  'packContext',
  'unpackContext',
  'wrapHost',
  'install',
] as const;

/** The rule for a list of middleware. */
export const middlewareList: OptionRule = (list) => {
  if (!Array.isArray(list)) return array(list, 'middleware');
  for (const one of list as readonly Middleware[]) {
    const problem = problemOf(one);
    if (problem !== undefined) return problem;
  }
  return repeatedName(list as readonly Middleware[]);
};

/** A copy: a later change of the caller's list has no effect. */
export function checkedMiddleware(middleware: readonly Middleware[]): readonly Middleware[] {
  return [...checkOption('middleware', middleware, middlewareList)];
}

/** In one list, and in all lists of one actor together: a second copy would hold, count and answer again. */
export function checkDistinct(middleware: readonly Middleware[]): void {
  const problem = repeatedName(middleware);
  if (problem !== undefined) throw new OptionError(problem.option, problem.value, problem.problem);
}

function problemOf(middleware: Middleware): OptionProblem | undefined {
  const problem = object(middleware, 'middleware') ?? name(middleware.name, 'middleware.name');
  if (problem !== undefined) return problem;
  for (const hook of HOOKS) {
    const wrong =
      middleware[hook] === undefined ? undefined : callback(middleware[hook], `${middleware.name}.${hook}`);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function repeatedName(middleware: readonly Middleware[]): OptionProblem | undefined {
  const names = new Set<string>();
  for (const { name: value } of middleware) {
    if (names.has(value))
      return { option: 'middleware.name', value, problem: 'needed a name that is used once' };
    names.add(value);
  }
  return undefined;
}
