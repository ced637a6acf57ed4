export type LogMethod = (fields: Readonly<Record<string, unknown>>, text: string) => void;

/** The receiver of log lines. A pino logger is one. */
export interface Logger {
  /** Takes a line of level `debug`: turns, among others. */
  readonly debug: LogMethod;
  /** Takes a line of level `info`. */
  readonly info: LogMethod;
  /** Takes a line of level `warn`. */
  readonly warn: LogMethod;
  /** Takes a line of level `error`. */
  readonly error: LogMethod;
}

/** One JSON object per line: `debug` and `info` to stdout, `warn` and `error` to stderr. */
export const consoleLogger: Logger = {
  debug: (fields, text) => write(process.stdout, 'debug', fields, text),
  info: (fields, text) => write(process.stdout, 'info', fields, text),
  warn: (fields, text) => write(process.stderr, 'warn', fields, text),
  error: (fields, text) => write(process.stderr, 'error', fields, text),
};

function write(
  stream: NodeJS.WriteStream,
  level: string,
  fields: Readonly<Record<string, unknown>>,
  text: string,
): void {
  stream.write(`${lineOf(level, new Date().toISOString(), fields, text)}\n`);
}

export function lineOf(
  level: string,
  time: string,
  fields: Readonly<Record<string, unknown>>,
  text: string,
): string {
  const own = { level, time, msg: text };
  try {
    return JSON.stringify({ ...own, ...fields }, toJson);
  } catch (error) {
    return JSON.stringify({ ...own, unloggable: String(error) });
  }
}

function toJson(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (!(value instanceof Error)) return value;
  const { code } = value as { readonly code?: unknown };
  return { type: value.name, message: value.message, code, stack: value.stack, cause: value.cause };
}
