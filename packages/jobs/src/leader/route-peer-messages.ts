import type { AdminRequest } from '../protocol/client/admin-messages.js';
import type { FromClient, FromWorker, LeaderForPeers } from '../protocol/leader-interface.js';
import type { PeerMessages } from './leader-protocol.js';

/** The leader as its peers see it: each message goes to the handler of its kind. */
export function routePeerMessages<Result>(leader: PeerMessages<Result>): LeaderForPeers<Result> {
  return {
    helloClient: (opened) => leader.helloClient(opened),
    fromClient: (received) => routeClientMessage(leader, received),
    helloWorker: (opened) => leader.helloWorker(opened),
    fromWorker: (received) => routeWorkerMessage(leader, received),
    helloHeartbeat: (opened) => leader.helloHeartbeat(opened),
    fromHeartbeat: (received) => leader.loopBlocked(received),
    payloadLost: (lost) => leader.payloadLost(lost),
    writable: (port) => leader.writable(port),
    connectionLost: (port) => leader.connectionLost(port),
  };
}

function routeClientMessage<Result>(
  leader: PeerMessages<Result>,
  { message, port, bytes }: FromClient,
): Result {
  switch (message.kind) {
    case 'define':
      return leader.define({ message, port, bytes });
    case 'submit':
      return leader.submit({ message, port, bytes });
    case 'submit_all':
      return leader.submitAll({ message, port, bytes });
    case 'await':
      return leader.awaitOutcomes({ message, port, bytes });
    case 'call':
      return leader[CALL_HANDLERS[message.request.kind]]({ message, port, bytes });
    case 'read_stream':
      return leader.readStream({ message, port, bytes });
    case 'stream_consumed':
      return leader.streamConsumed({ message, port, bytes });
    case 'stop_stream':
      return leader.stopStream({ message, port, bytes });
    case 'open_feed':
      return leader.openFeed({ message, port, bytes });
    case 'feed':
      return leader.feed({ message, port, bytes });
    case 'close_feed':
      return leader.closeFeed({ message, port, bytes });
    case 'heartbeat':
      return leader.clientHeartbeat({ message, port, bytes });
    case 'close':
      return leader.endClient({ message, port, bytes });
    default:
      return message satisfies never;
  }
}

const CALL_HANDLERS = {
  cancel: 'cancel',
  'cancel-where': 'cancelWhere',
  inspect: 'inspect',
  input: 'requestInput',
  'find-key': 'findKey',
  'release-keys': 'releaseKeys',
  list: 'list',
  overview: 'requestOverview',
  actors: 'requestActors',
  redrive: 'redrive',
  purge: 'purge',
  'dead-attempts': 'deadAttempts',
  queues: 'queues',
  'queue-limits': 'queueLimits',
  'queue-mode': 'queueMode',
  explain: 'explain',
  'schedule-set': 'changeSchedule',
  'schedule-drop': 'changeSchedule',
  'schedule-pause': 'changeSchedule',
  'schedule-run': 'changeSchedule',
  schedules: 'listSchedules',
  search: 'search',
  'dead-groups': 'groupDeadLetters',
  'redrive-edited': 'redriveEdited',
  audit: 'listAudit',
  clients: 'listClients',
  stats: 'requestStats',
  'worker-quiet': 'steerWorker',
  'worker-stop': 'steerWorker',
} as const satisfies Readonly<Record<AdminRequest['kind'], keyof PeerMessages>>;

function routeWorkerMessage<Result>(leader: PeerMessages<Result>, { message, port }: FromWorker): Result {
  switch (message.kind) {
    case 'report':
      return leader.report({ message, port });
    case 'chunks':
      return leader.chunks({ message, port });
    case 'feed_requests':
      return leader.feedRequests({ message, port });
    case 'drain':
      return leader.drainWorker({ message, port });
    default:
      return message satisfies never;
  }
}
