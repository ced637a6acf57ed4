// timeout: 240s
// Leader, workers and clients are killed with kill -9 at random, fifty times. Afterwards the log on the disk must account for every submit that
// any client was told about (reliability: D1, D2, E2, E3). The seed of a failing run is printed; TROUPE_SEED repeats its choices.
import { connectClient, decodeRecords, payloadText } from '@troupe/jobs';
import { dumpWal } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Cast, clientRole, leaderRole, type Role, stateFolder, workerRole } from './role.js';

const campaign = suite('kill campaign');
const ROUNDS = Number(process.env['TROUPE_KILLS'] ?? 50);
const SEED = Number(process.env['TROUPE_SEED'] ?? Date.now() % 1_000_000);

/** Park and Miller: enough to choose victims by. */
function chance(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

interface Story {
  readonly input: string;
  acks: number;
  result: string;
}

interface Told {
  readonly acked: Map<string, string>;
  readonly results: Map<string, unknown>;
}

function collect(role: Role, told: Told): void {
  for (const event of role.events) {
    if (event.kind === 'acked') told.acked.set(String(event['id']), String(event['input']));
    if (event.kind === 'result') {
      const id = String(event['id']);
      assert.ok(!told.results.has(id) || told.results.get(id) === event['output'], `two results for ${id}`);
      told.results.set(id, event['output']);
    }
  }
}

async function storiesIn(dir: string): Promise<Map<string, Story>> {
  const stories = new Map<string, Story>();
  let tag = '';
  const of = (job: number): Story | undefined => stories.get(`${tag}-${job.toString(36)}`);
  await dumpWal(dir, (entry) => {
    if (entry.kind !== 'record' || entry.base64 === undefined) return;
    decodeRecords(Buffer.from(entry.base64, 'base64'), (record) => {
      if (record.type === 'genesis') tag = record.tag;
      else if (record.type === 'enqueue') {
        const input = JSON.parse(payloadText(record.payload)) as string;
        stories.set(`${tag}-${record.job.toString(36)}`, { input, acks: 0, result: '' });
      } else if (record.type === 'ack') {
        const story = of(record.job);
        if (story === undefined) return;
        story.acks += 1;
        story.result = JSON.parse(payloadText(record.result)) as string;
      }
    });
  });
  return stories;
}

campaign(
  `${ROUNDS} kills lose no acknowledged submit, double none, and no job has two results (seed ${SEED})`,
  async () => {
    await using folder = await stateFolder();
    await using cast = new Cast();
    const random = chance(SEED);
    const told: Told = { acked: new Map(), results: new Map() };
    let leader = await cast.add(leaderRole(folder.dir));
    const { port } = leader;
    const workers = await Promise.all([
      cast.add(workerRole(port, 'w0', 8)),
      cast.add(workerRole(port, 'w1', 8)),
    ]);
    let clients = 0;
    const newClient = (): Promise<Role> => {
      clients += 1;
      return cast.add(clientRole(port, `c${clients}`));
    };
    let client = await newClient();
    const kills = { leader: 0, worker: 0, client: 0 };
    for (let round = 0; round < ROUNDS; round += 1) {
      // Something must be under way, else a kill proves nothing.
      const seen = client.events.length;
      const wanted = seen + 1 + Math.floor(random() * 40);
      await client.event(() => client.events.length >= wanted);
      const dice = random();
      if (dice < 0.4) {
        kills.leader += 1;
        await leader.kill();
        leader = await cast.add(leaderRole(folder.dir, port));
      } else if (dice < 0.8) {
        kills.worker += 1;
        const at = Math.floor(random() * workers.length);
        await workers[at]?.kill();
        workers[at] = await cast.add(workerRole(port, `w${at}`, 8));
      } else {
        kills.client += 1;
        await client.kill();
        collect(client, told);
        client = await newClient();
      }
    }
    client.signal('SIGTERM');
    await client.exited;
    collect(client, told);
    // What a killed client had submitted and nobody waits for any more still gets done.
    await using watcher = await connectClient({ address: { port }, name: 'watcher' });
    for (;;) {
      const { counts } = await watcher.overview();
      if (counts.queued + counts.running === 0) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    watcher.close();
    for (const worker of workers) await worker.kill();
    leader.signal('SIGTERM');
    assert.is(await leader.exited, 0);
    const stories = await storiesIn(folder.dir);
    const inputs = [...stories.values()].map(({ input }) => input);
    assert.is(new Set(inputs).size, inputs.length, 'a submit was taken twice');
    for (const [id, input] of told.acked)
      assert.is(stories.get(id)?.input, input, `acknowledged ${id} is not in the log`);
    for (const [id, story] of stories) {
      assert.is(story.acks, 1, `${id} has ${story.acks} results`);
      assert.is(story.result, story.input);
    }
    for (const [id, output] of told.results) assert.is(output, stories.get(id)?.result);
    assert.ok(told.acked.size >= ROUNDS);
    console.log(
      `  ${kills.leader} leaders, ${kills.worker} workers, ${kills.client} clients killed; ${stories.size} jobs, ${told.acked.size} acknowledged`,
    );
  },
);

campaign.run();
