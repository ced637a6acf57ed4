import { type Client, defineJob, type FoundJobs, type ScheduleView } from '@troupe/jobs';
import { aNumber } from '../plain-schema.js';

const Count = defineJob('count', { input: aNumber, output: aNumber });

export async function uses(client: Client): Promise<void> {
  const view: ScheduleView = await client.schedules.add('s', Count, 1, { cron: '@daily', catchUp: 3 });
  // @ts-expect-error the input of a schedule is that of its job
  await client.schedules.add('s', Count, 'one', { cron: '@daily' });
  // @ts-expect-error an overlap is one of three words
  await client.schedules.add('s', Count, 1, { cron: '@daily', overlap: 'both' });
  const found: FoundJobs = await client.search({ state: 'dead', tag: 'eu' });
  // @ts-expect-error a state is one of five words
  await client.search({ state: 'lost' });
  // @ts-expect-error the new input is that of the job
  await client.redriveEdited(Count, client.idOf(found.next), 'one');
  const acting: Client = client.actingFor('ann');
  // @ts-expect-error a principal is a name
  acting.actingFor(7);
  await client.submit(Count, 1, { tags: ['eu'], runAt: new Date(view.nextAt) });
}
