// timeout: 240s
// Leader, workers and clients are killed with kill -9 at random, fifty times. Afterwards the log on the disk must hold
// every submit that any client has a receipt for. The seed of a failing run is printed; TROUPE_SEED repeats its choices.
import { connectClient, decodeRecords, payloadText } from '@troupe/jobs';
import { dumpWal } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tempFolder } from '../temp-folder.js';
import {
  clientProcess,
  leaderProcess,
  type RoleProcess,
  RoleProcesses,
  workerProcess,
} from './role-process.js';

const campaign = suite('kill campaign');
const ROUNDS = Number(process.env['TROUPE_KILLS'] ?? 50);
const SEED = Number(process.env['TROUPE_SEED'] ?? Date.now() % 1_000_000);

/** Park and Miller: enough to choose victims. */
function chance(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

interface JobHihistory {
  readonly input: string;
  acks: number;
  result: string;
}

interface Reported {
  readonly acked: Map<string, string>;
  readonly results: Map<string, unknown>;
}

function collect(role: RoleProcess, reported: Reported): void {
  for (const event of role.events) {
    if (event.kind === 'acked') reported.acked.set(String(event['id']), String(event['input']));
    if (event.kind === 'result') {
      const id = String(event['id']);
      assert.ok(
        !reported.results.has(id) || reported.results.get(id) === event['output'],
        `two results for ${id}`,
      );
      reported.results.set(id, event['output']);
    }
  }
}

async function historiesIn(dir: string): Promise<Map<string, JobHihistory>> {
  const histories = new Map<string, JobHihistory>();
  let tag = '';
  const of = (job: number): JobHihistory | undefined => histories.get(`${tag}-${job.toString(36)}`);
  await dumpWal(dir, (entry) => {
    if (entry.kind !== 'record' || entry.base64 === undefined) return;
    decodeRecords(Buffer.from(entry.base64, 'base64'), (record) => {
      if (record.type === 'genesis') tag = record.tag;
      else if (record.type === 'enqueue') {
        const input = JSON.parse(payloadText(record.payload)) as string;
        histories.set(`${tag}-${record.job.toString(36)}`, { input, acks: 0, result: '' });
      } else if (record.type === 'ack') {
        const history = of(record.job);
        if (history === undefined) return;
        history.acks += 1;
        history.result = JSON.parse(payloadText(record.result)) as string;
      }
    });
  });
  return histories;
}

campaign(
  `${ROUNDS} kills lose no acknowledged submit, double none, and no job has two results (seed ${SEED})`,
  async () => {
    await using folder = await tempFolder();
    await using processes = new RoleProcesses();
    const random = chance(SEED);
    const reported: Reported = { acked: new Map(), results: new Map() };
    let leader = await processes.add(leaderProcess(folder.path));
    const { port } = leader;
    const workers = await Promise.all([
      processes.add(workerProcess(port, 'w0', 8)),
      processes.add(workerProcess(port, 'w1', 8)),
    ]);
    let clients = 0;
    const newClient = (): Promise<RoleProcess> => {
      clients += 1;
      return processes.add(clientProcess(port, `c${clients}`));
    };
    let client = await newClient();
    const kills = { leader: 0, worker: 0, client: 0 };
    for (let round = 0; round < ROUNDS; round += 1) {
      // A kill proves nothing unless jobs are under way.
      const seen = client.events.length;
      const wanted = seen + 1 + Math.floor(random() * 40);
      await client.event(() => client.events.length >= wanted);
      const dice = random();
      if (dice < 0.4) {
        kills.leader += 1;
        await leader.kill();
        leader = await processes.add(leaderProcess(folder.path, port));
      } else if (dice < 0.8) {
        kills.worker += 1;
        const at = Math.floor(random() * workers.length);
        await workers[at]?.kill();
        workers[at] = await processes.add(workerProcess(port, `w${at}`, 8));
      } else {
        kills.client += 1;
        await client.kill();
        collect(client, reported);
        client = await newClient();
      }
    }
    client.signal('SIGTERM');
    await client.exited;
    collect(client, reported);
    // Jobs of a killed client still run.
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
    const histories = await historiesIn(folder.path);
    const inputs = [...histories.values()].map(({ input }) => input);
    assert.is(new Set(inputs).size, inputs.length, 'a submit was accepted twice');
    for (const [id, input] of reported.acked)
      assert.is(histories.get(id)?.input, input, `acknowledged ${id} is not in the log`);
    for (const [id, history] of histories) {
      assert.is(history.acks, 1, `${id} has ${history.acks} results`);
      assert.is(history.result, history.input);
    }
    for (const [id, output] of reported.results) assert.is(output, histories.get(id)?.result);
    assert.ok(reported.acked.size >= ROUNDS);
    console.log(
      `  ${kills.leader} leaders, ${kills.worker} workers, ${kills.client} clients killed; ${histories.size} jobs, ${reported.acked.size} acknowledged`,
    );
  },
);

campaign.run();
