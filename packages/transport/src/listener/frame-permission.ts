import type { Action, Identity } from '../access/identity.js';
import type { ReceivedFrame } from '../connection/received-frame.js';
import type { WireErrorName } from '../connection/wire-error.js';

/** Checks the rights of an identity before the application gets a frame. */
export class FramePermission {
  private readonly actions: ReadonlyMap<number, Action>;

  constructor(actions: ReadonlyMap<number, Action>) {
    this.actions = actions;
  }

  /** Null where all frames pass, so that the common case costs one comparison. */
  checkFor(identityOf: () => Identity | null): ((frame: ReceivedFrame) => WireErrorName | null) | null {
    if (this.actions.size === 0) return null;
    return (frame) => {
      const identity = identityOf();
      const action = this.actions.get(frame.type);
      if (identity === null || action === undefined) return null;
      const { subject } = frame.header;
      if (subject === undefined) return 'BAD_SUBJECT';
      return identity.permits(action, subject) ? null : 'FORBIDDEN';
    };
  }
}
