import type { Socket } from "node:net";
import type { ChannelCredentials } from "@grpc/grpc-js";

/**
 * Limits the time from the TCP connection to the first bytes of HTTP/2. grpc-js waits for these without a limit, and it makes no other
 * connection meanwhile: a peer that is paused after its kernel has accepted the connection, and then vanishes, would never be called again.
 *
 * @param isReady reports whether the channel has a connection. The socket cannot tell: Bun counts no bytes while HTTP/2 reads it.
 * @returns `credentials`.
 */
export function limitHandshake(
  credentials: ChannelCredentials,
  limitMs: number,
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
        const timer = setTimeout(() => {
          if (isReady()) return;
          if (opened === undefined) late.reject(new Error(`no TLS handshake within ${limitMs} ms`));
          else opened.destroy(new Error(`no HTTP/2 within ${limitMs} ms of the connection`));
        }, limitMs);
        timer.unref();
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
