import type { SearchOptions } from '../client/calls/operator-calls.js';
import type { WaitOptions } from '../client/calls/wait-limit.js';
import type { Client, ListOptions } from '../client/client.js';
import type { JobHandle } from '../client/handles/job-handle.js';
import type { QueueHandle } from '../client/handles/queue-handle.js';
import type { SubmitOptions } from '../client/submit/submit-preparer.js';
import type { JobDefinition, JobInput, JobOutput } from '../job/definition/define-job.js';
import { checkOptions } from '../option-check.js';
import type { JobView, LeaderOverview, QueueView } from '../protocol/client/admin-messages.js';
import type { JobFilter } from '../protocol/client/search-messages.js';
import { CLIENT_CHECKS, type ConnectClientOptions, connectClient } from './connect-client.js';
import { type LeaderMap, LeaderRoutes, leaderMap } from './leader-map.js';

export interface ConnectGroupsOptions extends Omit<ConnectClientOptions, 'address'> {
  /** The addresses of each leader, by its groups; `*` for all other groups. */
  readonly leaders: LeaderMap;
}

/** A job of one of several leaders. */
export interface GroupJobView extends JobView {
  /** Its id, which names its leader, too. */
  readonly id: string;
}

const LIST_MAX = 100;

/** Connects to each leader of the map. Resolves when all of them have welcomed it. */
export async function connectGroups(options: ConnectGroupsOptions): Promise<GroupClient> {
  const { address: _, ...rest } = CLIENT_CHECKS;
  checkOptions('connectGroups', options, { ...rest, leaders: leaderMap }, ['leaders']);
  const { leaders, ...given } = options;
  const routes = await LeaderRoutes.open(
    leaders,
    (address) => connectClient({ ...given, address }),
    (client) => client.close(),
  );
  return new GroupClient(routes);
}

/**
 * One client for groups that have leaders of their own: submits go to the leader of their group, lists are
 * gathered. Order, keys and limits hold inside a group.
 */
export class GroupClient implements AsyncDisposable {
  private readonly routes: LeaderRoutes<Client>;

  constructor(routes: LeaderRoutes<Client>) {
    this.routes = routes;
  }

  /** The client of the leader of that group, for its other calls. */
  clientOf(group: string): Client {
    return this.routes.of(group);
  }

  /** As of a client, at the leader of the job's group. */
  async submit<D extends JobDefinition>(
    job: D,
    input: JobInput<D>,
    options?: SubmitOptions,
  ): Promise<JobHandle<D>> {
    return this.clientOf(job.policy.group).submit(job, input, options);
  }

  /** All or none: they are of one job, so they have one leader. */
  async submitAll<D extends JobDefinition>(
    job: D,
    inputs: readonly JobInput<D>[],
    options?: Omit<SubmitOptions, 'key' | 'holdKey' | 'streaming'>,
  ): Promise<JobHandle<D>[]> {
    return this.clientOf(job.policy.group).submitAll(job, inputs, options);
  }

  /** Submit, and wait for the output. */
  async run<D extends JobDefinition>(
    job: D,
    input: JobInput<D>,
    options?: SubmitOptions,
  ): Promise<JobOutput<D>> {
    return this.clientOf(job.policy.group).run(job, input, options);
  }

  /** A handle whose chunks can be read. */
  async stream<D extends JobDefinition>(
    job: D,
    input: JobInput<D>,
    options?: Omit<SubmitOptions, 'streaming'>,
  ): Promise<JobHandle<D>> {
    return this.clientOf(job.policy.group).stream(job, input, options);
  }

  /** A handle on a job submitted earlier, perhaps by another process. */
  open<D extends JobDefinition>(job: D, id: string): JobHandle<D> {
    return this.clientOf(job.policy.group).open(job, id);
  }

  /** A handle on the job of an idempotency key. Undefined: there is none, or not yet. */
  async openByKey<D extends JobDefinition>(
    job: D,
    key: string,
    options?: WaitOptions,
  ): Promise<JobHandle<D> | undefined> {
    return this.clientOf(job.policy.group).openByKey(job, key, options);
  }

  /** `group/exec`, or an exec whose group is its first token. */
  queue(name: string): QueueHandle {
    return this.clientOf(name.split(/[/.]/)[0] as string).queue(name); // `split` gives one part at least
  }

  /** Jobs of all leaders in that state, the oldest first. Pages: by {@link clientOf}. */
  list(state: JobView['state'], options: Omit<ListOptions, 'after'> = {}): Promise<readonly GroupJobView[]> {
    return this.gather((client) => client.list(state, options), options.max);
  }

  /** Dead letters of all leaders, the oldest first. */
  deadLetters(options: Omit<ListOptions, 'after'> = {}): Promise<readonly GroupJobView[]> {
    return this.gather((client) => client.deadLetters(options), options.max);
  }

  /** Jobs of all leaders that match, the oldest first. */
  search(filter: JobFilter, options: Omit<SearchOptions, 'after'> = {}): Promise<readonly GroupJobView[]> {
    return this.gather(async (client) => (await client.search(filter, options)).jobs, options.max);
  }

  /** The queues of all leaders; `*` is there once for each. */
  async queues(options?: WaitOptions): Promise<readonly QueueView[]> {
    return (await this.each((client) => client.queues(options))).flat();
  }

  /** One for each leader. */
  overviews(options?: WaitOptions): Promise<readonly LeaderOverview[]> {
    return this.each((client) => client.overview(options));
  }

  /** Disconnects from all leaders. */
  close(): void {
    for (const client of this.routes.all) client.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.routes.all) await client[Symbol.asyncDispose]();
  }

  private each<T>(call: (client: Client) => Promise<T>): Promise<T[]> {
    return Promise.all(this.routes.all.map(call));
  }

  private async gather(
    call: (client: Client) => Promise<readonly JobView[]>,
    max = LIST_MAX,
  ): Promise<readonly GroupJobView[]> {
    const views = await this.each(async (client) =>
      (await call(client)).map((view) => ({ ...view, id: client.idOf(view.job) })),
    );
    return views
      .flat()
      .sort((a, b) => a.submittedAt - b.submittedAt)
      .slice(0, max);
  }
}
