import { type Client, connectClient, JobForeignError } from '@troupe/jobs';
import type { Net } from '@troupe/transport';
import { CommandDeadline } from './input/connection/command-deadline.js';
import { dialOptions, type RequestFlags } from './input/connection/connection-options.js';
import { type GroupFlags, ofEachLeader } from './input/connection/group-leaders.js';
import { ConnectionNotices } from './output/connection-notices.js';
import type { CommandContext } from './subcommand.js';

/**
 * Runs requests of a leader within the time of the command. On a terminal it prints that it waits for a
 * leader; a program gets the error alone.
 */
export async function withClient<T>(
  { terminal }: CommandContext,
  flags: RequestFlags,
  run: (client: Client) => Promise<T>,
): Promise<T> {
  const deadline = new CommandDeadline(flags.timeout);
  const dial = dialOptions(flags);
  const isWatched = terminal.isInteractive && flags.json !== true;
  const client = await connectClient({
    ...dial,
    ...connectLimit(flags, deadline),
    name: NAME,
    ...(isWatched ? { onEvent: new ConnectionNotices(terminal, dial.address).onEvent } : {}),
  });
  return closing(client, deadline.race(run(client)));
}

/**
 * The same for a command that may wait for long: it prints when the leader is away, and keeps its own time.
 */
export async function withWaitingClient<T>(
  context: CommandContext,
  flags: RequestFlags,
  run: (client: Client, deadline: CommandDeadline) => Promise<T>,
  options: { readonly net?: Net } = {},
): Promise<T> {
  const deadline = new CommandDeadline(flags.timeout);
  const dial = dialOptions(flags);
  const notices = new ConnectionNotices(context.terminal, dial.address);
  const client = await connectClient({
    ...dial,
    ...connectLimit(flags, deadline),
    ...(options.net === undefined ? {} : { net: options.net }),
    name: NAME,
    ...(flags.json === true ? {} : { onEvent: notices.onEvent }),
  });
  notices.connected();
  return closing(client, run(client, deadline));
}

/** At the leader of the job, whose id names it: another leader refuses the id. */
export async function atLeaderOfJob<F extends RequestFlags & GroupFlags, T>(
  flags: F,
  run: (flags: F) => Promise<T>,
): Promise<T> {
  let foreign: unknown;
  for (const one of ofEachLeader(flags)) {
    try {
      return await run(one);
    } catch (error) {
      if (!(error instanceof JobForeignError)) throw error;
      foreign = error;
    }
  }
  throw foreign;
}

/** At one leader after another: each prints its own list. */
export async function atEachLeader<F extends RequestFlags & GroupFlags>(
  flags: F,
  run: (flags: F) => Promise<void>,
): Promise<void> {
  for (const one of ofEachLeader(flags)) await run(one);
}

const NAME = 'cli';

function connectLimit(
  { connectWithin }: RequestFlags,
  deadline: CommandDeadline,
): { readonly withinMs?: number } {
  return deadline.left(connectWithin);
}

async function closing<T>(client: Client, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } finally {
    client.close();
  }
}
