import { type Net, type NetSocket, nodeNet } from '@troupe/transport';

/**
 * Node's sockets, counting the bytes written. A body is written only as far as its receiver has granted
 * credit.
 */
export function byteCountingNet(onWritten: (bytes: number) => void): Net {
  return {
    ...nodeNet,
    dial: (options, handler) =>
      nodeNet.dial(options, {
        onOpen: (socket) => handler.onOpen(watched(socket, onWritten)),
        onError: (error) => handler.onError(error),
      }),
  };
}

function watched(socket: NetSocket, onWritten: (bytes: number) => void): NetSocket {
  let written = 0;
  return {
    remote: socket.remote,
    channel: socket.channel,
    attach: (handler) => socket.attach(handler),
    write(pieces) {
      for (const piece of pieces) written += piece.length;
      onWritten(written);
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
