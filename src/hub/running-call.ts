import { Metadata, type ServerUnaryCall, type ServiceError, status } from "@grpc/grpc-js";
import type { Budget, Hold, Shortage } from "../admission/budget.ts";
import { BUDGETS } from "../admission/budgets.ts";
import { addressOfPeer, type ClientAddress, type ClientAddresses } from "../admission/client-address.ts";
import type { ListReader } from "../read/hub/turns.ts";
import type { Spans } from "../runtime/trace/span.ts";
import { noRoom } from "./grpc-errors.ts";

/** A call of a method. */
export interface RawCall extends ListReader {
  /** The address at the other end of the connection. */
  readonly peer: string;
  /** The client that made the call, possibly through a proxy. */
  readonly client: ClientAddress;
  /** Returns the first value of an entry of the request's metadata. */
  metadata(name: string): string | undefined;
  /** Sends initial metadata. Call it at most once. */
  sendMetadata(metadata: Readonly<Record<string, string>>): void;
}

/** Responses sent in one write; at least one. */
export type ResponseBatch = readonly Uint8Array[];

export interface ServiceDeps {
  readonly onFault: (method: string, cause: unknown) => void;
  readonly calls: CallStats;
  readonly clients: ClientAddresses;
  /** Budget of bytes that clients may leave unread in the responses of unary methods. */
  readonly responses: Budget;
  /** Undefined while traces are off. */
  readonly spans?: Pick<Spans, "start"> | undefined;
}

/** The members that the calls of both kinds of method have. */
type AnyCall = Pick<
  ServerUnaryCall<Buffer, Buffer>,
  "getPeer" | "sendMetadata" | "cancelled" | "metadata"
> & {
  once(event: "cancelled", listener: () => void): unknown;
};

/** Bytes that each unary call reserves until its response is known. */
export const MIN_RESPONSE_BYTES = 4 * 1024;
/** Bytes that a list reserves at a time for its next rows. */
const ROOM_BYTES = 64 * 1024;

export class RunningCall implements RawCall {
  readonly #call: AnyCall;
  readonly #clients: ClientAddresses;
  readonly #responses: Budget | undefined;
  #client: ClientAddress | undefined;
  #hold: Hold | undefined;
  #shortage: Shortage = "client";
  #abort: AbortController | undefined;

  /** @param responses the budget of a unary call. */
  constructor(call: AnyCall, clients: ClientAddresses, responses?: Budget) {
    this.#call = call;
    this.#clients = clients;
    this.#responses = responses;
  }

  get peer(): string {
    return addressOfPeer(this.#call.getPeer());
  }

  get client(): ClientAddress {
    this.#client ??= this.#clients.of(this.peer, (name) => this.#call.metadata.get(name).join(","));
    return this.#client;
  }

  get clientKey(): string {
    return this.client.bucket;
  }

  takeRoom(): boolean {
    return this.#grow(ROOM_BYTES);
  }

  /** Reserves the bytes of the response, in place of the room reserved for it, until the client has received it. */
  holds(bytes: number): boolean {
    const held = this.#hold?.amount ?? 0;
    if (bytes > held) return this.#grow(bytes - held);
    this.#hold?.shrinkTo(bytes);
    return true;
  }

  /** Returns the error of a call without room. */
  noRoom(): ServiceError {
    return noRoom(BUDGETS.hubResponses.unit, this.#shortage);
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = new AbortController();
      this.#abort = abort;
      this.#atEnd(() => abort.abort());
    }
    return this.#abort.signal;
  }

  #grow(bytes: number): boolean {
    if (!this.#responses) return true;
    if (!this.#hold) {
      const hold = this.#responses.open(this.clientKey);
      this.#hold = hold;
      this.#atEnd(() => hold.end());
    }
    const shortage = this.#hold.grow(bytes);
    if (shortage) this.#shortage = shortage;
    return shortage === undefined;
  }

  /**
   * Runs a function at the end of the call. The library emits `cancelled` at the end of every call: when the client has its
   * response, or has disconnected.
   */
  #atEnd(then: () => void): void {
    this.#call.once("cancelled", then);
    if (this.#call.cancelled) then();
  }

  metadata(name: string): string | undefined {
    return this.#call.metadata.get(name)[0]?.toString();
  }

  sendMetadata(entries: Readonly<Record<string, string>>): void {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(entries)) metadata.set(name, value);
    this.#call.sendMetadata(metadata);
  }
}

export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Size of the prefix of a gRPC message on the wire: a byte for its compression, and its length as 32 bits. */
const HEADER_BYTES = 5;

/**
 * Messages of a stream that are written together, because a write costs the thread more than the bytes of a dozen small
 * messages. The library frames what a method serializes as one message, using the two members below; this class writes all
 * frames itself, including the first one.
 */
export class MessageFrames {
  readonly #messages: readonly Uint8Array[];
  /** The size of all frames, without the header that the library adds. */
  readonly byteLength: number;

  /** @param messages at least one. */
  constructor(messages: readonly Uint8Array[]) {
    this.#messages = messages;
    let bytes = -HEADER_BYTES;
    for (const { byteLength } of messages) bytes += HEADER_BYTES + byteLength;
    this.byteLength = bytes;
  }

  /** Writes the frames, overwriting the header that the library has written. */
  copy(target: Buffer, start: number): void {
    let at = start - HEADER_BYTES;
    for (const message of this.#messages) {
      target[at] = 0;
      target.writeUInt32BE(message.byteLength, at + 1);
      target.set(message, at + HEADER_BYTES);
      at += HEADER_BYTES + message.byteLength;
    }
  }
}

/** The calls of a method since the process started. */
export interface MethodStats {
  /** Ended calls by the name of their gRPC code. */
  readonly calls: Readonly<Record<string, number>>;
  /** Total time of ended unary calls. Streams are not included, because they last as long as the client wants. */
  readonly seconds: number;
}

/** Counts the calls of the methods that the node defines, so their number is bounded. */
export class CallStats {
  readonly #methods = new Map<string, { readonly calls: Record<string, number>; seconds: number }>();

  ended(method: string, code: status, seconds: number): void {
    const counts = this.#methods.get(method) ?? { calls: {}, seconds: 0 };
    this.#methods.set(method, counts);
    const name = status[code] ?? "UNKNOWN";
    counts.calls[name] = (counts.calls[name] ?? 0) + 1;
    counts.seconds += seconds;
  }

  /** By method. */
  read(): Readonly<Record<string, MethodStats>> {
    return Object.fromEntries(this.#methods);
  }
}
