import type { Http2Session, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import {
  Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status,
} from "@grpc/grpc-js";
import type { Budget, Hold, Shortage } from "../admission/budget.ts";
import { addressOfPeer, type ClientAddresses } from "../admission/client-address.ts";
import { joinSmallParts } from "../lib/bytes.ts";
import { noRoom } from "./grpc-errors.ts";

/** The HTTP/2 error code CANCEL (RFC 9113, section 7). */
const HTTP2_CANCEL = 0x8;

export interface ReceiveLimits {
  /** Maximum size of a request, before and after decompression, by the path of its method. */
  readonly requestBytes: (path: string) => number;
  /** How long a request may take to arrive. Its received bytes count as in flight meanwhile. */
  readonly receiveTimeoutMs: number;
  /** How long it may then take until the client has the response. */
  readonly respondTimeoutMs: number;
}

/**
 * The part of grpc-js's call that receives requests. It is private, because the library only limits single messages, with
 * one size for all methods, and limits neither the bytes of all calls nor the number of messages in a unary call.
 */
interface ReceivingCall extends ServerInterceptingCallInterface {
  readonly stream: ServerHttp2Stream;
  readonly metadata: Metadata;
  maxReceiveMessageSize: number;
  /** Keeps the parts of a message that is not complete. */
  readonly decoder: { maxReadMessageLength: number; readonly readPartialMessage: Uint8Array[] };
  handleDataFrame(data: Buffer): void;
  /** `message` is the framed message; its contents start after 5 bytes. */
  decompressMessage(message: Buffer, encoding: string): Buffer | Promise<Buffer>;
}

const IDENTITY = "identity";
const TOO_SLOW = { code: status.DEADLINE_EXCEEDED, details: "the request did not arrive in time" };
const SECOND_MESSAGE = { code: status.INVALID_ARGUMENT, details: "a request is one message" };

/**
 * Limits the memory of requests, counted as their bytes arrive. A compressed message counts with its maximum size before it
 * is decompressed, and with its actual size afterwards. A call that finds no room ends with RESOURCE_EXHAUSTED. The bytes of
 * a request count until its call ends.
 *
 * A client with too many calls in flight loses the connection on which it starts another one.
 *
 * A call whose client stops sending, or does not read the response, is ended, because it would otherwise keep its share of
 * the memory from other calls.
 */
export function limitReceiving(
  limits: ReceiveLimits,
  {
    clients,
    budget,
    calls,
    proxied,
  }: {
    readonly clients: ClientAddresses;
    readonly budget: Budget;
    readonly calls: Budget;
    readonly proxied: Budget;
  },
): ServerInterceptor {
  const { requestBytes, receiveTimeoutMs, respondTimeoutMs } = limits;
  const used = new ProxiedConnections(proxied);
  return (method, call) => {
    assertReceiving(call);
    const maxBytes = requestBytes(method.path);
    const handleDataFrame = call.handleDataFrame.bind(call);
    const decompressMessage = call.decompressMessage.bind(call);
    const peer = addressOfPeer(call.getPeer());
    const client = clients.of(peer, (name) => call.metadata.get(name).join(","));
    const hold = budget.open(client.bucket);
    const exhausted = (shortage: Shortage) => noRoom(budget.terms.unit, shortage);
    let messages = 0;
    let isOver = false;
    const place = calls.open(client.bucket);
    call.stream.once("close", () => place.end());
    const lack = place.grow(1);
    const lackOfConnections = clients.isProxy(peer) ? used.add(call.stream, client.bucket) : undefined;
    if (lack === undefined && lackOfConnections !== undefined) {
      isOver = true;
      call.sendStatus(noRoom(proxied.terms.unit, lackOfConnections));
    } else if (lack !== undefined) {
      isOver = true;
      // Refusing each of thousands of calls would occupy the thread. A proxy's connection also carries the calls of others.
      const isOwnConnection = clients.of(peer, () => null).bucket === client.bucket;
      if (lack === "client" && isOwnConnection) cut(call.stream.session);
      else call.sendStatus(noRoom(calls.terms.unit, lack));
    }
    call.maxReceiveMessageSize = maxBytes;
    call.decoder.maxReadMessageLength = maxBytes;
    call.handleDataFrame = (data) => {
      if (isOver) return;
      const shortage = hold.grow(data.length);
      if (shortage) return call.sendStatus(exhausted(shortage));
      handleDataFrame(data);
      joinSmallParts(call.decoder.readPartialMessage);
    };
    call.decompressMessage = async (message, encoding) => {
      messages += 1;
      if (messages > 1) throw SECOND_MESSAGE;
      if (encoding === IDENTITY) return decompressMessage(message, encoding);
      const shortage = hold.grow(maxBytes);
      if (shortage) throw exhausted(shortage);
      const contents = await decompressMessage(message, encoding);
      if (!isOver) hold.shrinkTo(hold.amount - (maxBytes - contents.length));
      return contents;
    };
    const end = () => call.stream.close(HTTP2_CANCEL);
    let deadline = setTimeout(() => {
      call.sendStatus(TOO_SLOW);
      // The client gets the status before the stream is closed.
      deadline = setTimeout(end, 0);
    }, receiveTimeoutMs);
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveHalfClose(forward) {
            clearTimeout(deadline);
            // A stream lasts as long as its client reads it.
            if (!method.responseStream) deadline = setTimeout(end, respondTimeoutMs);
            forward();
          },
          // Called at the end of every call.
          onCancel() {
            // A stream that the client leaves open, or does not read, closes later than its call ends.
            if (call.stream.closed) clearTimeout(deadline);
            else call.stream.once("close", () => clearTimeout(deadline));
            hold.end();
            isOver = true;
          },
        }),
    });
  };
}

/** The connections of proxies, counted once for each client that has calls on them. */
class ProxiedConnections {
  readonly #budget: Budget;
  readonly #clients = new WeakMap<Http2Session, Map<string, { readonly hold: Hold; calls: number }>>();

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Adds a call until its stream closes. Returns the bound that its connection would exceed, if any. */
  add(stream: ServerHttp2Stream, client: string): Shortage | undefined {
    const { session } = stream;
    if (session === undefined) return undefined;
    const clients = this.#clients.get(session) ?? new Map();
    this.#clients.set(session, clients);
    const use = clients.get(client) ?? { hold: this.#budget.open(client), calls: 0 };
    const shortage = use.calls === 0 ? use.hold.grow(1) : undefined;
    if (shortage !== undefined) return shortage;
    use.calls += 1;
    clients.set(client, use);
    stream.once("close", () => {
      use.calls -= 1;
      if (use.calls > 0) return;
      use.hold.end();
      clients.delete(client);
    });
    return undefined;
  }
}

/**
 * Ends a connection with all of its calls. Bun's `session.destroy()` sends a GOAWAY but leaves the client the socket while
 * it has an open stream, so its calls would not end and the descriptor would stay in use.
 */
function cut(session: Http2Session | undefined): void {
  if (session !== undefined && !session.destroyed) (session.socket as Socket).resetAndDestroy();
}

/** @throws Error if this version of the library receives in a different way. */
function assertReceiving(call: ServerInterceptingCallInterface): asserts call is ReceivingCall {
  const { stream, metadata, decoder, handleDataFrame, decompressMessage, maxReceiveMessageSize } =
    call as ReceivingCall;
  const isKnown =
    typeof stream?.close === "function" &&
    metadata instanceof Metadata &&
    typeof handleDataFrame === "function" &&
    typeof decompressMessage === "function" &&
    typeof maxReceiveMessageSize === "number" &&
    typeof decoder?.maxReadMessageLength === "number" &&
    Array.isArray(decoder.readPartialMessage);
  if (!isKnown) throw new Error("this version of grpc-js has no known hook for limiting requests");
}
