import { Option } from 'commander';

/** The form of records in a log. */
export function logFormatOption(): Option {
  return new Option(
    '--log-format <form>',
    'form of the records in the log; jsonl is readable with grep -a, and slower',
  ).choices(['binary', 'jsonl']);
}
