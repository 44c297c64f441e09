import type {
  MethodDefinition,
  ServerUnaryCall,
  ServiceDefinition,
  ServiceError,
  sendUnaryData,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { Rejection } from "../protocol/rejection.ts";
import { internalFault, toServiceError } from "./grpc-errors.ts";

/** A unary method over bytes: answers bytes, or why not. */
export type RawMethod = (request: Buffer, peer: string) => Promise<Uint8Array | Rejection | ServiceError>;

/** A service as `Server.addService` takes it. */
export interface RawService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

const asBuffer = (bytes: Buffer): Buffer => bytes;

/**
 * Makes a service whose requests and answers stay bytes for the transport, so that a client's malformed message is
 * answered as its own error with its code, not as a fault of the transport. Methods that are not given answer
 * UNIMPLEMENTED.
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
      requestSerialize: asBuffer,
      requestDeserialize: asBuffer,
      responseSerialize: asBuffer,
      responseDeserialize: asBuffer,
    };
    implementation[name] = (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => {
      method(call.request, call.getPeer()).then(
        (answer) => {
          if (answer instanceof Rejection) callback(toServiceError(answer));
          else if (answer instanceof Error) callback(answer);
          else callback(null, Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength));
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
