import {
  Metadata,
  type MethodDefinition,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceError,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { Result } from "../lib/result.ts";
import type { Rejection } from "../protocol/rejection.ts";
import type { Refusal } from "../read/hub/refusal.ts";
import { type Span, type SpanEnd, traceOfCaller } from "../runtime/trace/span.ts";
import { internalFault, toServiceError } from "./grpc-errors.ts";
import {
  asBuffer,
  MessageFrames,
  MIN_RESPONSE_BYTES,
  type RawCall,
  type ResponseBatch,
  RunningCall,
  type ServiceDeps,
} from "./running-call.ts";

/** A unary method over bytes. Returns bytes or an error. */
export type RawMethod = (
  request: Buffer,
  call: RawCall,
) => Promise<Result<Uint8Array, Rejection | Refusal | ServiceError>>;

/**
 * The responses of a stream, which are read as fast as the client reads, with one batch waiting for it at a time. A
 * ServiceError that they throw ends the call for the client.
 */
export interface RawStream {
  readonly responses: AsyncIterable<ResponseBatch>;
  /** Ends the call of a client that does not take a batch within this time. */
  readonly stall?: { readonly timeoutMs: number; readonly error: ServiceError; readonly onStall: () => void };
}

/** A method over bytes with a stream of responses. */
export type RawStreamMethod = (
  request: Buffer,
  call: RawCall,
) => Promise<Result<RawStream, Rejection | Refusal | ServiceError>>;

/** A service as `Server.addService` accepts it. */
export type RawService = ReturnType<typeof rawService>;

const unchanged = (bytes: Buffer): Buffer => bytes;
// The library uses only the members that MessageFrames has.
const inFrames = (batch: ResponseBatch): Buffer => new MessageFrames(batch) as unknown as Buffer;

/** The methods of a service, by their names. */
interface ServiceMethods {
  readonly name: string;
  readonly methods: Readonly<Record<string, RawMethod>>;
  /** A stream takes precedence over a method of the same name. */
  readonly streams?: Readonly<Record<string, RawStreamMethod>>;
}

/**
 * Creates a service whose requests and responses are bytes for the transport, so that a client's malformed message gets an
 * error with its own code instead of a transport error. Methods that are not provided are UNIMPLEMENTED.
 */
export function rawService(
  { name: service, methods, streams = {} }: ServiceMethods,
  { onFault, calls, clients, responses, spans }: ServiceDeps,
) {
  const definition: Record<
    string,
    MethodDefinition<Buffer, Buffer> | MethodDefinition<Buffer, ResponseBatch>
  > = {};
  const implementation: UntypedServiceImplementation = {};
  const startSpan = (path: string, call: RunningCall) =>
    spans?.start(
      { name: path.slice(1), kind: "server", attributes: { "rpc.system": "grpc", "rpc.service": service } },
      traceOfCaller(call.metadata("traceparent"), () => clients.isProxy(call.peer)),
    );
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
      const running = new RunningCall(call, clients, responses);
      const span = startSpan(path, running);
      const ended = (code: status) => {
        calls.ended(name, code, (performance.now() - startedMs) / 1000);
        span?.end(spanEnd(code));
      };
      const refuse = (error: ServiceError) => {
        ended(error.code);
        callback(error);
      };
      try {
        if (!running.holds(MIN_RESPONSE_BYTES)) return refuse(running.noRoom());
        const result = await within(span, () => method(call.request, running));
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
      const running = new RunningCall(call, clients);
      const span = startSpan(path, running);
      const ended = (code: status) => {
        calls.ended(name, code, 0);
        span?.end(spanEnd(code));
      };
      try {
        await within(span, async () => {
          const opened = await method(call.request, running);
          if (!opened.ok) throw asServiceError(opened.error);
          await sendAll(call, opened.value);
        });
        ended(call.cancelled ? status.CANCELLED : status.OK);
        call.end();
      } catch (cause) {
        const known = isServiceError(cause) ? cause : undefined;
        if (known === undefined) onFault(path, cause);
        const error = known ?? internalFault();
        ended(error.code);
        call.emit("error", error);
      }
    };
  }
  return { definition, implementation };
}

/** The codes that count as faults of a server, by OpenTelemetry's conventions. */
const FAULTS: ReadonlySet<status> = new Set([
  status.UNKNOWN,
  status.DEADLINE_EXCEEDED,
  status.UNIMPLEMENTED,
  status.INTERNAL,
  status.UNAVAILABLE,
  status.DATA_LOSS,
]);

function spanEnd(code: status): SpanEnd {
  return {
    attributes: { "rpc.grpc.status_code": code },
    failure: FAULTS.has(code) ? status[code] : undefined,
  };
}

const within = <T>(span: Span | undefined, work: () => T): T => (span ? span.run(work) : work());

/** Sends each batch once the client has taken the previous one. Ends early if the client has disconnected. */
async function sendAll(
  call: ServerWritableStream<Buffer, ResponseBatch>,
  { responses, stall }: RawStream,
): Promise<void> {
  const gone = new Promise<void>((resolve) => {
    call.once("cancelled", resolve);
    call.once("close", resolve);
  });
  for await (const batch of responses) {
    if (call.cancelled || call.destroyed) return;
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
