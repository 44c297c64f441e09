import {
  Metadata,
  type MethodDefinition,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type ServiceError,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { Budget, Hold, Shortage } from "../admission/budget.ts";
import { BUDGETS } from "../admission/budgets.ts";
import { addressOfPeer, type ClientAddress, type ClientAddresses } from "../admission/client-address.ts";
import type { Result } from "../lib/result.ts";
import type { Rejection } from "../protocol/rejection.ts";
import type { Refusal } from "../read/hub/refusal.ts";
import type { ListReader } from "../read/hub/turns.ts";
import type { CallStats } from "./call-stats.ts";
import { internalFault, noRoom, toServiceError } from "./grpc-errors.ts";

/** A call of a method. */
export interface RawCall extends ListReader {
  /** The address at the other end of the connection. */
  readonly peer: string;
  /** Who made the call, which may have come through a proxy. */
  readonly client: ClientAddress;
  /** Returns the first value of an entry of the request's metadata. */
  metadata(name: string): string | undefined;
  /** Sends initial metadata. Call it at most once. */
  sendMetadata(metadata: Readonly<Record<string, string>>): void;
  /** Counts the items of a response. */
  countRows(rows: number): void;
}

/** A unary method over bytes. Returns bytes or an error. */
export type RawMethod = (
  request: Buffer,
  call: RawCall,
) => Promise<Result<Uint8Array, Rejection | Refusal | ServiceError>>;

/**
 * The responses of a stream, which are read as fast as the client reads: one batch waits for it at a time. A ServiceError that they
 * throw is the end of the call for the client.
 */
export interface RawStream {
  readonly responses: AsyncIterable<ResponseBatch>;
  /** Ends the call of a client that does not take a batch in so long. */
  readonly stall?: { readonly timeoutMs: number; readonly error: ServiceError; readonly onStall: () => void };
}

/** Responses that are sent in one write; at least one. */
export type ResponseBatch = readonly Uint8Array[];

/** A method over bytes with a stream of responses. */
export type RawStreamMethod = (
  request: Buffer,
  call: RawCall,
) => Promise<Result<RawStream, Rejection | Refusal | ServiceError>>;

/** A service as `Server.addService` accepts it. */
export interface RawService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

const unchanged = (bytes: Buffer): Buffer => bytes;
// The library takes from it what MessageFrames has.
const inFrames = (batch: ResponseBatch): Buffer => new MessageFrames(batch) as unknown as Buffer;

/** The methods of a service, by their names. */
interface ServiceMethods {
  readonly name: string;
  readonly methods: Readonly<Record<string, RawMethod>>;
  /** A stream precedes a method of the same name. */
  readonly streams?: Readonly<Record<string, RawStreamMethod>>;
}

interface ServiceDeps {
  readonly onFault: (method: string, cause: unknown) => void;
  readonly calls: CallStats;
  readonly clients: ClientAddresses;
  /** What clients may leave unread of the responses of unary methods. */
  readonly responses: Budget;
}

/**
 * Creates a service whose requests and responses are bytes for the transport, so that a malformed message of a client
 * gets an error with its own code instead of a transport error. Methods that are not provided are UNIMPLEMENTED.
 */
export function rawService(
  { name: service, methods, streams = {} }: ServiceMethods,
  { onFault, calls, clients, responses }: ServiceDeps,
): RawService {
  const definition: Record<
    string,
    MethodDefinition<Buffer, Buffer> | MethodDefinition<Buffer, ResponseBatch>
  > = {};
  const implementation: UntypedServiceImplementation = {};
  const common = {
    requestStream: false,
    requestSerialize: unchanged,
    requestDeserialize: unchanged,
    responseDeserialize: unchanged,
  };
  for (const [name, method] of Object.entries(methods)) {
    if (name in streams) continue;
    const path = `/${service}/${name}`;
    definition[name] = { ...common, path, responseStream: false, responseSerialize: unchanged };
    implementation[name] = async (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => {
      const startedMs = performance.now();
      const ended = (code: status) => calls.ended(name, code, (performance.now() - startedMs) / 1000);
      const refuse = (error: ServiceError) => {
        ended(error.code);
        callback(error);
      };
      const countRows = (rows: number) => calls.sent(name, rows);
      const running = new RunningCall(call, { clients, countRows, responses });
      try {
        if (!running.holds(MIN_RESPONSE_BYTES)) return refuse(running.noRoom());
        const result = await method(call.request, running);
        if (!result.ok) return refuse(asServiceError(result.error));
        if (!running.holds(result.value.byteLength)) return refuse(running.noRoom());
        ended(status.OK);
        callback(null, asBuffer(result.value));
      } catch (cause) {
        onFault(path, cause);
        refuse(internalFault());
      }
    };
  }
  for (const [name, method] of Object.entries(streams)) {
    const path = `/${service}/${name}`;
    definition[name] = {
      ...common,
      path,
      responseStream: true,
      responseSerialize: inFrames,
      responseDeserialize: (bytes: Buffer): ResponseBatch => [bytes],
    };
    implementation[name] = async (call: ServerWritableStream<Buffer, ResponseBatch>) => {
      const countRows = (rows: number) => calls.sent(name, rows);
      try {
        const opened = await method(call.request, new RunningCall(call, { clients, countRows }));
        if (!opened.ok) throw asServiceError(opened.error);
        await sendAll(call, opened.value, countRows);
        calls.ended(name, call.cancelled ? status.CANCELLED : status.OK, 0);
        call.end();
      } catch (cause) {
        const known = isServiceError(cause) ? cause : undefined;
        if (known === undefined) onFault(path, cause);
        const error = known ?? internalFault();
        calls.ended(name, error.code, 0);
        call.emit("error", error);
      }
    };
  }
  return { definition, implementation };
}

/** Sends each batch when the client has taken the one before it. Ends early if the client has disconnected. */
async function sendAll(
  call: ServerWritableStream<Buffer, ResponseBatch>,
  { responses, stall }: RawStream,
  countRows: (rows: number) => void,
): Promise<void> {
  const gone = new Promise<void>((resolve) => {
    call.once("cancelled", resolve);
    call.once("close", resolve);
  });
  for await (const batch of responses) {
    if (call.cancelled || call.destroyed) return;
    countRows(batch.length);
    const taken = new Promise<void>((resolve) => call.write(batch, () => resolve()));
    const stalled = Promise.withResolvers<void>();
    const timer =
      stall &&
      setTimeout(() => {
        stall.onStall();
        stalled.reject(stall.error);
      }, stall.timeoutMs);
    await Promise.race([taken, gone, stalled.promise]);
    clearTimeout(timer);
  }
}

function isServiceError(cause: unknown): cause is ServiceError {
  return (
    cause instanceof Error && "code" in cause && "metadata" in cause && cause.metadata instanceof Metadata
  );
}

function asServiceError(error: Rejection | Refusal | ServiceError): ServiceError {
  return error instanceof Error ? error : toServiceError(error);
}

/** What the calls of both kinds of method share. */
type AnyCall = Pick<
  ServerUnaryCall<Buffer, Buffer>,
  "getPeer" | "sendMetadata" | "cancelled" | "metadata"
> & {
  once(event: "cancelled", listener: () => void): unknown;
};

/** What each unary call holds until its response is known. */
const MIN_RESPONSE_BYTES = 4 * 1024;
/** What a list takes at once for its next rows. */
const ROOM_BYTES = 64 * 1024;

class RunningCall implements RawCall {
  readonly countRows: (rows: number) => void;
  readonly #call: AnyCall;
  readonly #clients: ClientAddresses;
  readonly #responses: Budget | undefined;
  #client: ClientAddress | undefined;
  #hold: Hold | undefined;
  #shortage: Shortage = "client";
  #abort: AbortController | undefined;

  /** @param deps.responses of a unary call. */
  constructor(
    call: AnyCall,
    deps: Pick<RawCall, "countRows"> & Pick<ServiceDeps, "clients"> & Partial<Pick<ServiceDeps, "responses">>,
  ) {
    this.#call = call;
    this.#clients = deps.clients;
    this.#responses = deps.responses;
    this.countRows = deps.countRows;
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

  /** Holds the bytes of the response, in place of the room that was taken for it, until the client has it. */
  holds(bytes: number): boolean {
    const held = this.#hold?.amount ?? 0;
    if (bytes > held) return this.#grow(bytes - held);
    this.#hold?.shrinkTo(bytes);
    return true;
  }

  /** The error of a call without room. */
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

  /** The library says `cancelled` at the end of every call: when the client has its response, or has disconnected. */
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

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** The prefix of a gRPC message on the wire: a byte for its compression, and its length as 32 bits. */
const HEADER_BYTES = 5;

/**
 * Messages of a stream that are written at once: a write costs the thread more than the bytes of a dozen small messages. The library
 * frames what a method serializes as one message, from the two members below; this writes all frames itself, also the first one.
 */
class MessageFrames {
  readonly #messages: readonly Uint8Array[];
  /** The bytes of all frames, without the header that the library adds. */
  readonly byteLength: number;

  /** @param messages at least one. */
  constructor(messages: readonly Uint8Array[]) {
    this.#messages = messages;
    let bytes = -HEADER_BYTES;
    for (const { byteLength } of messages) bytes += HEADER_BYTES + byteLength;
    this.byteLength = bytes;
  }

  /** Writes the frames over the header that the library has written, too. */
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
