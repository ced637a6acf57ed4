/** Something that happened in a pool. `task` is the name of its export, `thread` the name of a thread. */
export type PoolEvent =
  | { readonly kind: 'thread-started'; readonly pool: string; readonly thread: string }
  | {
      readonly kind: 'thread-start-failed';
      readonly pool: string;
      readonly thread: string;
      readonly error: Error;
    }
  | {
      /** `error` is there if the pool did not end the thread itself. */
      readonly kind: 'thread-ended';
      readonly pool: string;
      readonly thread: string;
      readonly error?: Error | undefined;
    }
  | {
      /** `posted`: no promise reports the error. */
      readonly kind: 'task-failed';
      readonly pool: string;
      readonly task: string;
      readonly error: Error;
      readonly posted: boolean;
    }
  | { readonly kind: 'task-rejected'; readonly pool: string; readonly task: string; readonly error: Error };
