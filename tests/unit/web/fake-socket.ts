/** A socket without a server: the test answers its requests and sends its frames. */
import {
  createSignal,
  type Connection,
  type EventFrame,
  type FrameType,
  type ServerFrames,
  type Socket,
} from '@service-code/client';

export interface FakeSocket {
  socket: Socket;
  /** Delivers a frame to the listeners of its type. */
  send<T extends FrameType>(frame: ServerFrames[T] & { type: T }): void;
  /** Delivers an event to all listeners. */
  emit(frame: EventFrame): void;
  /** Reports a state of the connection to its listeners. */
  report(connection: Connection): void;
}

export function createFakeSocket(request: Socket['request'], connection: Connection = { kind: 'open' }): FakeSocket {
  const frames = createSignal<ServerFrames[FrameType]>();
  const events = createSignal<EventFrame>();
  const connections = createSignal<Connection>();
  const isOfType = <T extends FrameType>(frame: ServerFrames[FrameType], type: T): frame is ServerFrames[T] =>
    frame.type === type;
  return {
    socket: {
      connection,
      on: (type, listener) =>
        frames.listen((frame) => {
          if (isOfType(frame, type)) listener(frame);
        }),
      onEvent: events.listen,
      onConnection: connections.listen,
      request,
      probe: () => undefined,
      hold: () => undefined,
      close: () => undefined,
    },
    send: frames.emit,
    emit: events.emit,
    report: connections.emit,
  };
}
