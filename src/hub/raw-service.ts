import {
  Metadata,
  type MethodDefinition,
  type ServerUnaryCall,
  type ServiceDefinition,
  type ServiceError,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { Result } from "../lib/result.ts";
import type { Rejection } from "../protocol/rejection.ts";
import type { Refusal } from "../read/hub/refusal.ts";
import { internalFault, toServiceError } from "./grpc-errors.ts";

/** A call of a method. */
export interface RawCall {
  /** `address:port`, IPv6 addresses in brackets. */
  readonly peer: string;
  /** Aborts when the client cancels the call or is gone. */
  readonly signal: AbortSignal;
  /** Sends initial metadata. Call it at most once. */
  sendMetadata(metadata: Readonly<Record<string, string>>): void;
}

/** A unary method over bytes. Returns bytes or an error. */
export type RawMethod = (
  request: Buffer,
  call: RawCall,
) => Promise<Result<Uint8Array, Rejection | Refusal | ServiceError>>;

/** A service as `Server.addService` accepts it. */
export interface RawService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

const unchanged = (bytes: Buffer): Buffer => bytes;

/**
 * Creates a service whose requests and responses are bytes for the transport, so that a malformed message of a client
 * gets an error with its own code instead of a transport error. Methods that are not provided are UNIMPLEMENTED.
 *
 * @param methods by their names in the service.
 */
export function rawService(
  onFault: (method: string, cause: unknown) => void,
  service: string,
  methods: Readonly<Record<string, RawMethod>>,
): RawService {
  const definition: Record<string, MethodDefinition<Buffer, Buffer>> = {};
  const implementation: UntypedServiceImplementation = {};
  for (const [name, method] of Object.entries(methods)) {
    const path = `/${service}/${name}`;
    definition[name] = {
      path,
      requestStream: false,
      responseStream: false,
      requestSerialize: unchanged,
      requestDeserialize: unchanged,
      responseSerialize: unchanged,
      responseDeserialize: unchanged,
    };
    implementation[name] = (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => {
      method(call.request, new UnaryCall(call)).then(
        (result) => {
          if (result.ok) callback(null, asBuffer(result.value));
          else callback(result.error instanceof Error ? result.error : toServiceError(result.error));
        },
        (cause: unknown) => {
          onFault(path, cause);
          callback(internalFault());
        },
      );
    };
  }
  return { definition, implementation };
}

class UnaryCall implements RawCall {
  readonly #call: ServerUnaryCall<Buffer, Buffer>;
  #abort: AbortController | undefined;

  constructor(call: ServerUnaryCall<Buffer, Buffer>) {
    this.#call = call;
  }

  get peer(): string {
    return this.#call.getPeer();
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = new AbortController();
      this.#abort = abort;
      this.#call.once("cancelled", () => abort.abort());
      if (this.#call.cancelled) abort.abort();
    }
    return this.#abort.signal;
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
