import { type Payload, payloadText, TextPayload } from '@troupe/jobs';

export const plain: Payload = new TextPayload('as it is');
export const json: string = payloadText(plain);
// @ts-expect-error what is kept does not change
new TextPayload('as it is').text = 'something else';
