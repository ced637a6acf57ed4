import akka from 'akkajs';
import { functionActors } from '../dist/adapters/function-actors.js';

export const name = 'akkajs';
export const note = 'Akka compiled from Scala; no deadline on an ask';

export function open() {
  const quiet = new akka.Configuration('akka { loglevel = "ERROR"\n stdout-loglevel = "ERROR" }').get();
  const system = akka.ActorSystem.create('bench', quiet);
  class FunctionActor extends akka.Actor {
    constructor(receive) {
      super();
      this.receive = receive;
    }
  }
  return functionActors({
    spawn: (receive) => system.spawn(new FunctionActor(receive)),
    tell(actor, message) {
      actor.tell(message);
    },
    stop(actor) {
      actor.kill();
    },
    close: () => system.terminate(),
  });
}
