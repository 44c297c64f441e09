import type { Socket } from "node:net";
import type { ChannelCredentials } from "@grpc/grpc-js";

/** Calls back when a connection has had its time. */
export type HandshakeTimer = (onLate: () => void) => void;

export function handshakeTimer(limitMs: number): HandshakeTimer {
  return (onLate) => void setTimeout(onLate, limitMs).unref();
}

/**
 * Limits the time from the TCP connection to the first bytes of HTTP/2. grpc-js waits for these without a limit, and it makes no other
 * connection meanwhile: a peer that is paused after its kernel has accepted the connection, and then vanishes, would never be called again.
 *
 * @param isReady reports whether the channel has a connection. The socket cannot tell: Bun counts no bytes while HTTP/2 reads it.
 * @returns `credentials`.
 */
export function limitHandshake(
  credentials: ChannelCredentials,
  startTimer: HandshakeTimer,
  isReady: () => boolean,
): ChannelCredentials {
  const create = credentials._createSecureConnector.bind(credentials);
  credentials._createSecureConnector = (...args) => {
    const connector = create(...args);
    return {
      waitForReady: () => connector.waitForReady(),
      getCallCredentials: () => connector.getCallCredentials(),
      destroy: () => connector.destroy(),
      connect(socket) {
        const late = Promise.withResolvers<never>();
        // The decrypted connection, once there is one.
        let opened: Socket | undefined;
        startTimer(() => {
          if (isReady()) return;
          const fault = new Error("the peer has sent nothing since the connection");
          if (opened === undefined) late.reject(fault);
          else opened.destroy(fault);
        });
        const connecting = connector.connect(socket).then((result) => {
          opened = result.socket;
          return result;
        });
        return Promise.race([connecting, late.promise]);
      },
    };
  };
  return credentials;
}
