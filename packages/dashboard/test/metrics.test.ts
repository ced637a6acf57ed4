import { readFile } from 'node:fs/promises';
import type { ExecStatsView } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { prometheusText } from '#src/metrics/prometheus-text.js';
import { GatewayRig } from './gateway-rig.js';

const metrics = suite('metrics');
const SAMPLE = /^(troupe_\w+)(?:\{(?:\w+="(?:[^"\\]|\\.)*",?)+\})? -?[\d.]+$/;

async function textOf(rig: GatewayRig): Promise<string> {
  const answer = await rig.get('/metrics');
  assert.is(answer.status, 200);
  return answer.text();
}

metrics('depths, tables, workers and the log are gauges', async () => {
  await using rig = await GatewayRig.start();
  await rig.submit('later.job', 1, '?runAfter=1h');
  const text = await textOf(rig);
  assert.match(text, /^troupe_jobs\{state="queued"\} 1$/m);
  assert.match(text, /^troupe_exec_unserved\{exec="later.job"\} 1$/m);
  assert.match(text, /^troupe_log_segments \d+$/m);
  assert.match(text, /^troupe_log_commit_seconds\{quantile="0.99"\} 0\.\d+$/m);
  assert.match(text, /^troupe_worker_slots\{worker="[^"]+",liveness="alive"\} \d+$/m);
});

metrics('submits, ends and failed attempts are counted by exec and outcome', async () => {
  await using rig = await GatewayRig.start();
  for (const exec of ['sample.echo', 'sample.fail'])
    await rig.get(`/api/jobs/${await rig.submit(exec, 1)}/result?within=10s`);
  await rig.post(`/api/jobs/${await rig.submit('sample.echo', 1, '?runAfter=1h')}/cancel`, {});
  const lines = (await textOf(rig)).split('\n').filter((line) => /^troupe_exec_\w+_total/.test(line));
  assert.equal(lines.sort(), [
    'troupe_exec_accepted_total{exec="sample.echo"} 2',
    'troupe_exec_accepted_total{exec="sample.fail"} 1',
    'troupe_exec_ended_total{exec="sample.echo",outcome="cancelled"} 1',
    'troupe_exec_ended_total{exec="sample.echo",outcome="dead"} 0',
    'troupe_exec_ended_total{exec="sample.echo",outcome="done"} 1',
    'troupe_exec_ended_total{exec="sample.fail",outcome="cancelled"} 0',
    'troupe_exec_ended_total{exec="sample.fail",outcome="dead"} 1',
    'troupe_exec_ended_total{exec="sample.fail",outcome="done"} 0',
    'troupe_exec_failed_attempts_total{exec="sample.echo"} 0',
    'troupe_exec_failed_attempts_total{exec="sample.fail"} 1',
  ]);
});

metrics('waiting and running times are summaries in seconds', async () => {
  await using rig = await GatewayRig.start();
  const leader = await rig.client.overview();
  const exec = { exec: 'a"b', waitMs: { p50: 20, p99: 1_500 }, runMs: { p50: 7, p99: 60_000 } };
  const text = prometheusText(leader, [exec as ExecStatsView]);
  const lines = text
    .split('\n')
    .filter((line) => /^troupe_exec_(wait|run)_seconds|^# TYPE troupe_exec_run_/.test(line));
  assert.equal(lines, [
    'troupe_exec_wait_seconds{exec="a\\"b",quantile="0.5"} 0.02',
    'troupe_exec_wait_seconds{exec="a\\"b",quantile="0.99"} 1.5',
    '# TYPE troupe_exec_run_seconds summary',
    'troupe_exec_run_seconds{exec="a\\"b",quantile="0.5"} 0.007',
    'troupe_exec_run_seconds{exec="a\\"b",quantile="0.99"} 60',
  ]);
  assert.not.match(text, /^troupe_exec_ended_total/m, 'an earlier leader does not count');
});

metrics('each metric has its help and its type before its samples, and stands in the guide', async () => {
  await using rig = await GatewayRig.start();
  await rig.submit('sample.echo', 1);
  const guide = await readFile(new URL('../../../docs/guides/http.md', import.meta.url), 'utf8');
  const seen = new Set<string>();
  let current = '';
  let helped = '';
  for (const line of (await textOf(rig)).trimEnd().split('\n')) {
    const [, , name = ''] = line.split(' ');
    if (line.startsWith('# HELP ')) helped = name;
    else if (line.startsWith('# TYPE ')) {
      assert.match(line, /^# TYPE troupe_\w+ (gauge|counter|summary)$/);
      assert.is(name, helped);
      assert.not(seen.has(name), `${name} comes twice`);
      assert.ok(guide.includes(`\`${name}\``), `${name} is not in the guide`);
      seen.add(name);
      current = name;
    } else assert.is(SAMPLE.exec(line)?.[1], current, line);
  }
  assert.ok(seen.size > 20);
});

metrics.run();
