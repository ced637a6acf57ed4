import { connectClient, type DialOptions } from '@troupe/jobs';
import { type Address, type DialerEvent, formatAddress, formatCloseReason } from '@troupe/transport';

export interface ProbedAddress {
  readonly address: string;
  readonly state: 'leads' | 'stands by' | 'unreachable';
  readonly problem?: string;
}

/** One address of several: a standby answers that another one leads. */
export async function probeAddress(dial: DialOptions, address: Address): Promise<ProbedAddress> {
  let answer: DialerEvent | undefined;
  const onEvent = (event: DialerEvent): void => {
    if (event.kind !== 'dialing') answer ??= event;
  };
  const ended = await connectClient({ ...dial, address, name: 'cli', onEvent }).then(
    (client) => client.close(),
    (error: Error) => error,
  );
  const text = formatAddress(address);
  if (answer === undefined)
    return ended instanceof Error
      ? { address: text, state: 'unreachable', problem: ended.message }
      : { address: text, state: 'leads' };
  if (isStandby(answer)) return { address: text, state: 'stands by' };
  return { address: text, state: 'unreachable', problem: problemOf(answer) };
}

export function isStandby(event: DialerEvent): boolean {
  return (
    event.kind === 'lost' && event.reason.kind === 'peer-error' && event.reason.error.name === 'NOT_LEADER'
  );
}

function problemOf(event: DialerEvent): string {
  if (event.kind === 'unreachable') return event.error.message;
  return event.kind === 'lost' ? formatCloseReason(event.reason) : 'no answer';
}
