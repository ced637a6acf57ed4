import comedy from 'comedy';

export const name = 'comedy';
export const note =
  'in-memory mode; a spawn is asynchronous, so the adapter queues messages until the actor exists';

const silent = { debug() {}, info() {}, warn() {}, error: console.error, isDebug: () => false };

/** An address that works before comedy has created the actor. */
class Ref {
  actor = undefined;
  waiting = [];
  stopped = false;

  created(actor) {
    this.actor = actor;
    for (const deliver of this.waiting) deliver(actor);
    this.waiting = [];
    if (this.stopped) actor.destroy();
  }
}

class Ctx {
  constructor(state, self, system) {
    this.state = state;
    this.self = self;
    this.system = system;
  }

  stop() {
    this.system.stop(this.self);
  }

  spawn(definition, args) {
    return this.system.spawn(definition, args);
  }
}

export async function open() {
  const own = comedy({ log: silent });
  const root = await own.rootActor();
  // A parent copies its list of children at every end of a child: groups of a hundred keep the cost linear.
  let group;
  let members = 0;
  const parent = () => {
    if (members % 100 === 0) {
      group = new Promise((resolve) => {
        root.createChild({ initialize: resolve });
      });
    }
    members += 1;
    return group;
  };
  const system = {
    define: (behaviour) => behaviour,
    spawn(definition, args) {
      const ref = new Ref();
      const ctx = new Ctx(definition.state(args), ref, system);
      const topics = {};
      for (const [topic, handler] of Object.entries(definition.handlers)) {
        topics[topic] = (payload) => handler(ctx, payload);
      }
      parent()
        .then((group) => group.createChild(topics))
        .then((actor) => ref.created(actor));
      return ref;
    },
    stop(ref) {
      ref.stopped = true;
      // Deferred, because comedy takes much longer to end an actor inside its handler.
      if (ref.actor !== undefined) queueMicrotask(() => ref.actor.destroy());
    },
    tell(topic) {
      return (ref, payload) => {
        if (ref.actor !== undefined) ref.actor.send(topic, payload);
        else ref.waiting.push((actor) => actor.send(topic, payload));
      };
    },
    ask(topic) {
      return (ref, payload) => {
        if (ref.actor !== undefined) return ref.actor.sendAndReceive(topic, payload);
        return new Promise((resolve, reject) => {
          ref.waiting.push((actor) => actor.sendAndReceive(topic, payload).then(resolve, reject));
        });
      };
    },
    close: () => own.destroy(),
  };
  return system;
}
