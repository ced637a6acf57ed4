import { ByteWriter } from '#src/bytes/byte-writer.js';
import type { AdminRequest } from '#src/protocol/client/admin-messages.js';
import { JobFrameType } from '#src/wire/job-frame-type.js';
import { client, type GoldenFrame } from './golden-frame.js';

/** The text of a request of each kind, with every field. The compiler names a kind that is missing. */
const CALLS: Readonly<Record<AdminRequest['kind'], string>> = {
  inspect: '{"kind":"inspect","job":9}',
  cancel: '{"kind":"cancel","job":9,"reason":"late"}',
  input: '{"kind":"input","job":9,"from":0,"max":262144}',
  'find-key': '{"kind":"find-key","exec":"mail.send","key":"k1"}',
  'release-keys': '{"kind":"release-keys","exec":"mail.send","keys":["k1","k2"]}',
  overview: '{"kind":"overview"}',
  actors: '{"kind":"actors"}',
  list: '{"kind":"list","state":"dead","after":9,"max":50}',
  'dead-attempts': '{"kind":"dead-attempts","jobs":[8,9]}',
  redrive: '{"kind":"redrive","jobs":[8,9],"attempts":[1,2]}',
  purge: '{"kind":"purge","jobs":[8]}',
  queues: '{"kind":"queues"}',
  'queue-limits':
    '{"kind":"queue-limits","queue":"mail/mail.send","limits":{"runningMax":3,"rate":{"jobs":5,"perMs":1000,"burst":9},"keyRunningMax":2,"keyRate":{"jobs":1,"perMs":100}}}',
  'queue-mode': '{"kind":"queue-mode","queue":"*","mode":"draining"}',
  explain: '{"kind":"explain","job":9}',
  'schedule-set':
    '{"kind":"schedule-set","name":"daily","policy":{"exec":"mail.send","group":"mail","retry":{"attempts":3,"backoff":"linear","baseMs":10,"capMs":20,"jitter":0.5,"crashes":2},"leaseMs":1000,"limits":{"runMs":2000,"outputBytes":3000},"keep":{"doneMs":4000,"deadMs":5000}},"payload":"1","rule":{"cron":"0 9 * * *","zone":"Europe/Berlin","everyMs":1000,"fromAt":5,"jitterMs":10,"overlap":"skip","catchUpMax":1}}',
  'schedule-drop': '{"kind":"schedule-drop","name":"daily"}',
  'schedule-pause': '{"kind":"schedule-pause","name":"daily","paused":true}',
  'schedule-run': '{"kind":"schedule-run","name":"daily"}',
  schedules: '{"kind":"schedules","after":"","max":50}',
  search:
    '{"kind":"search","filter":{"exec":"mail.send","group":"mail","tenant":"local","client":"local/ann","key":"k1","orderKey":"o1","tag":"eu","error":"no","fingerprint":"f1","since":1,"until":2,"state":"queued"},"after":0,"max":50}',
  'cancel-where':
    '{"kind":"cancel-where","filter":{"tag":"eu"},"reason":"late","after":0,"max":1000,"dryRun":true}',
  'dead-groups': '{"kind":"dead-groups","max":50,"exec":"mail.send"}',
  'redrive-edited': '{"kind":"redrive-edited","job":9,"attempt":3,"payload":"{\\"to\\":\\"bob\\"}"}',
  audit: '{"kind":"audit","max":50,"after":7}',
  clients: '{"kind":"clients"}',
  stats: '{"kind":"stats"}',
  'worker-quiet': '{"kind":"worker-quiet","worker":"w","quiet":true}',
  'worker-stop': '{"kind":"worker-stop","worker":"w","withinMs":5000}',
};

/** A frame of a call is its number and its text. */
export const GOLDEN_CALLS: readonly GoldenFrame[] = Object.entries(CALLS).map(([kind, text]) => {
  const body = new ByteWriter();
  body.int(3);
  body.text(text);
  const request = JSON.parse(text) as AdminRequest;
  return client(`Call ${kind}`, JobFrameType.Call, body.take().toString('hex'), {
    kind: 'call',
    call: 3,
    request,
  });
});
