import type { RuntimeEvent } from './runtime-event.js';

export type EventListener = (event: RuntimeEvent) => void;

/** The listeners of a system. Without a listener an event is not even made. */
export class EventStream {
  /**
   * One object per subscription: the same function may subscribe twice, and each subscription ends by itself.
   */
  private subscriptions: readonly { readonly listener: EventListener }[] = [];
  private readonly onListenerError: (error: unknown) => void;
  /** Called at every new subscription. */
  onSubscribed: (() => void) | undefined = undefined;

  constructor(onListenerError: (error: unknown) => void) {
    this.onListenerError = onListenerError;
  }

  get hasListeners(): boolean {
    return this.subscriptions.length > 0;
  }

  /** Returns the function that ends the subscription. */
  subscribe(listener: EventListener): () => void {
    const subscription = { listener };
    this.subscriptions = [...this.subscriptions, subscription];
    this.onSubscribed?.();
    return () => {
      this.subscriptions = this.subscriptions.filter((known) => known !== subscription);
    };
  }

  /** A listener that throws is reported and does not reach the runtime or the other listeners. */
  publish(event: RuntimeEvent): void {
    for (const { listener } of this.subscriptions) {
      try {
        listener(event);
      } catch (error) {
        this.onListenerError(error);
      }
    }
  }
}
