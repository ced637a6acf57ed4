/** Something that happened in a pool. `task` is the name of its export, `thread` the name of a thread. */
export type PoolEvent =
  /** A thread is ready for tasks. */
  | { readonly kind: 'thread-started'; readonly pool: string; readonly thread: string }
  /** A thread did not come up. */
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
  /** A task was refused or dropped: the pool was full or shut down. */
  | { readonly kind: 'task-rejected'; readonly pool: string; readonly task: string; readonly error: Error };
