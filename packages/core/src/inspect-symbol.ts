/** The name under which `util.inspect`, and so `console.log`, looks for a text; Bun and Deno know it too. */
export const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom') as never;
