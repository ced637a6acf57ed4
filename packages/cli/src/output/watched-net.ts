import { type Net, type NetSocket, nodeNet } from '@troupe/transport';

/** Sockets that tell how much was written. A body is written no further ahead than its receiver has asked for. */
export function watchedNet(onSent: (bytes: number) => void): Net {
  return {
    ...nodeNet,
    dial: (options, handler) =>
      nodeNet.dial(options, {
        onOpen: (socket) => handler.onOpen(watched(socket, onSent)),
        onError: (error) => handler.onError(error),
      }),
  };
}

function watched(socket: NetSocket, onSent: (bytes: number) => void): NetSocket {
  let written = 0;
  return {
    remote: socket.remote,
    channel: socket.channel,
    attach: (handler) => socket.attach(handler),
    write(pieces) {
      for (const piece of pieces) written += piece.length;
      onSent(written);
      return socket.write(pieces);
    },
    get heldBytes() {
      return socket.heldBytes;
    },
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    end: () => socket.end(),
    destroy: () => socket.destroy(),
  };
}
