import type {
  MethodDefinition,
  ServerUnaryCall,
  ServiceDefinition,
  ServiceError,
  sendUnaryData,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { Result } from "../lib/result.ts";
import type { Rejection } from "../protocol/rejection.ts";
import { internalFault, toServiceError } from "./grpc-errors.ts";

/** A unary method over bytes. Returns bytes or an error. */
export type RawMethod = (
  request: Buffer,
  peer: string,
) => Promise<Result<Uint8Array, Rejection | ServiceError>>;

/** A service as `Server.addService` accepts it. */
export interface RawService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

const unchanged = (bytes: Buffer): Buffer => bytes;

/**
 * Creates a service whose requests and responses are bytes for the transport, so that a malformed message of a client
 * gets an error with its own code instead of a transport error. Methods that are not provided are UNIMPLEMENTED.
 */
export function rawService<Definition extends ServiceDefinition>(
  onFault: (method: string, cause: unknown) => void,
  definition: Definition,
  methods: { readonly [Name in keyof Definition]?: RawMethod },
): RawService {
  const raw: Record<string, MethodDefinition<Buffer, Buffer>> = {};
  const implementation: UntypedServiceImplementation = {};
  for (const [name, method] of Object.entries<RawMethod | undefined>(methods)) {
    const described = definition[name];
    if (!described || !method) continue;
    raw[name] = {
      ...described,
      requestSerialize: unchanged,
      requestDeserialize: unchanged,
      responseSerialize: unchanged,
      responseDeserialize: unchanged,
    };
    implementation[name] = (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => {
      method(call.request, call.getPeer()).then(
        (result) => {
          if (result.ok) callback(null, asBuffer(result.value));
          else callback(result.error instanceof Error ? result.error : toServiceError(result.error));
        },
        (cause: unknown) => {
          onFault(described.path, cause);
          callback(internalFault());
        },
      );
    };
  }
  return { definition: raw, implementation };
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
