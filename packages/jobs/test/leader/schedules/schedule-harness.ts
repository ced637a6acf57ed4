import type { ScheduleRule } from '#src/ledger/schedules/schedule-rule.js';
import type { AdminAnswer, AdminRequest } from '#src/protocol/client/admin-messages.js';
import type { ScheduleView } from '#src/protocol/client/schedule-messages.js';
import { policyOf } from '../../ledger/random-records.js';
import { type FakeClient, type FakeWorker, LeaderHarness } from '../leader-harness.js';

/** The wall clock of a harness when it starts: a whole second. */
export const START = 1_000_000_000;

/** One leader, an operator and a worker of the jobs of schedules. */
export class ScheduleHarness {
  harness: LeaderHarness;
  client: FakeClient;

  constructor(options: ConstructorParameters<typeof LeaderHarness>[0] = {}) {
    this.harness = new LeaderHarness(options);
    this.client = this.harness.client('ann');
  }

  call(request: AdminRequest, client: FakeClient = this.client): AdminAnswer | undefined {
    const call = 1 + client.received.length;
    client.write({ kind: 'call', call, request });
    return client.received.flatMap((one) =>
      one.kind === 'answer' && one.call === call ? [one.answer] : [],
    )[0];
  }

  set(
    rule: Partial<ScheduleRule>,
    name = 'night',
    { exec = 'one', keepMs = 1e6, payload = '"in"' } = {},
  ): AdminAnswer | undefined {
    return this.call({
      kind: 'schedule-set',
      name,
      policy: policyOf(exec, { doneMs: keepMs, deadMs: keepMs }),
      payload,
      rule: { overlap: 'queue', catchUpMax: 1, ...rule },
    });
  }

  view(name = 'night'): ScheduleView {
    const answer = this.call({ kind: 'schedules', after: '', max: 1_000 });
    const views = answer?.kind === 'schedules' ? answer.views : [];
    const view = views.find((one) => one.name === name);
    if (view === undefined) throw new Error(`no schedule ${name}`);
    return view;
  }

  /** The instants that were run, as milliseconds after the start. */
  fired(name = 'night'): number[] {
    return this.fires(name)
      .filter(({ jobs }) => jobs.length > 0)
      .map(({ slotAt }) => slotAt - START);
  }

  fires(name = 'night') {
    return this.harness
      .records()
      .flatMap((record) => (record.type === 'schedule_fire' && record.name === name ? [record] : []));
  }

  worker(slots = 8): FakeWorker {
    return this.harness.worker({ slots });
  }

  /** The process ends at once, and starts again after this time. */
  restart(afterMs = 0): void {
    this.harness.now += afterMs;
    this.harness = this.harness.restarted();
    this.client = this.harness.client('ann', 't2');
  }
}
