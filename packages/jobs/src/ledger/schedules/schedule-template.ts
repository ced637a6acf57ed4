import type { Payload } from '../../job/payload/payload.js';
import type { StoredPolicy } from '../jobs/stored-policy.js';
import { ruleText, type ScheduleRule } from './schedule-rule.js';

/** The fields that schedules share: a hundred thousand of them have few different ones. */
export interface ScheduleTemplate {
  /** Its jobs are jobs of this client. */
  readonly client: string;
  readonly policy: StoredPolicy;
  readonly payload: Payload;
  readonly rule: ScheduleRule;
}

interface CountedTemplate {
  readonly template: ScheduleTemplate;
  /** Undefined: it is not shared. */
  readonly text: string | undefined;
  schedules: number;
}

/** A longer payload is rarely shared, and its text would be kept twice. */
const SHARED_PAYLOAD_MAX = 256;

/** Templates by number, one for equal ones. */
export class ScheduleTemplates {
  private readonly byNumber: (CountedTemplate | undefined)[] = [];
  private readonly byText = new Map<string, number>();
  private readonly free: number[] = [];

  get(number: number): ScheduleTemplate {
    return (this.byNumber[number] as CountedTemplate).template; // a schedule has it
  }

  /** The number of a template for one more schedule. */
  take(template: ScheduleTemplate): number {
    const text = textOf(template);
    const known = text === undefined ? undefined : this.byText.get(text);
    if (known !== undefined) {
      (this.byNumber[known] as CountedTemplate).schedules += 1;
      return known;
    }
    const number = this.free.pop() ?? this.byNumber.length;
    this.byNumber[number] = { template, text, schedules: 1 };
    if (text !== undefined) this.byText.set(text, number);
    return number;
  }

  release(number: number): void {
    const counted = this.byNumber[number] as CountedTemplate;
    counted.schedules -= 1;
    if (counted.schedules > 0) return;
    this.byNumber[number] = undefined;
    this.free.push(number);
    if (counted.text !== undefined) this.byText.delete(counted.text);
  }
}

function textOf({ client, policy, payload, rule }: ScheduleTemplate): string | undefined {
  if (typeof payload !== 'string' || payload.length > SHARED_PAYLOAD_MAX) return undefined;
  return JSON.stringify([client, policy.no, payload, ruleText(rule)]);
}
